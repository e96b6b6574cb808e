/* SPDX-License-Identifier: Apache-2.0 */
/* Which planes are devices', by their names. */
#ifndef TRACE_DEVICE_NAME_H
#define TRACE_DEVICE_NAME_H

#include <stdbool.h>
#include <string.h>

/* XLA's, and ours; and those of older TPUs. */
static inline bool plane_name_is_device(const char *name)
{
	return strncmp(name, "/device:", 8) == 0 || strncmp(name, "#Chip", 5) == 0;
}

#endif
