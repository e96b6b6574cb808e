/* SPDX-License-Identifier: Apache-2.0 */
/* Which planes are devices', by their names. */
#ifndef TRACE_DEVICE_NAME_H
#define TRACE_DEVICE_NAME_H

#include <stdbool.h>
#include <string.h>

/* The plane "/device:GPU:N" has the work of the device N. */
#define PLANE_DEVICE "/device:GPU:"
/*
 * The plane with the same N beside it has what is not work of the device: waits for it, its memory,
 * and the overhead of tracing. XProf draws this plane, but does not count it as the device's work.
 */
#define PLANE_BESIDE_DEVICE "/device:CUSTOM:GPU:"

/* XLA's, and ours; and those of older TPUs. */
static inline bool plane_name_is_device(const char *name)
{
	return strncmp(name, "/device:", 8) == 0 || strncmp(name, "#Chip", 5) == 0;
}

#endif
