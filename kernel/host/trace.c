// SPDX-License-Identifier: GPL-2.0-only
/* The tracepoints' definitions, once. */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "trace.h"
