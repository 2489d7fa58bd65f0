/* SPDX-License-Identifier: GPL-2.0-only */
/* The driver core's spellings, newest kernel's first. */
#ifndef KDP_COMPAT_DEVICE_H
#define KDP_COMPAT_DEVICE_H

#include <linux/device.h>

#include "kdp_config.h"

static inline struct class *kdp_class_create(const char *name)
{
#ifdef HAVE_CLASS_CREATE_NAME
	return class_create(name);
#else
	return class_create(THIS_MODULE, name);
#endif
}

#endif /* KDP_COMPAT_DEVICE_H */
