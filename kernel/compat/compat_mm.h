/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory management's spellings, newest kernel's first. */
#ifndef KDP_COMPAT_MM_H
#define KDP_COMPAT_MM_H

#include <linux/mm.h>

#include "kdp_config.h"

/* Of the calling process; mmap_lock is held for reading. */
static inline long kdp_pin_user_pages(unsigned long start, unsigned long nr, unsigned int flags,
				      struct page **pages)
{
#ifdef HAVE_PIN_USER_PAGES_4
	return pin_user_pages(start, nr, flags, pages);
#else
	return pin_user_pages(start, nr, flags, pages, NULL);
#endif
}

#endif /* KDP_COMPAT_MM_H */
