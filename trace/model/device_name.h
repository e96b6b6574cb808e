/* SPDX-License-Identifier: Apache-2.0 */
/* The names of planes that hold the work of devices. */
#ifndef TRACE_DEVICE_NAME_H
#define TRACE_DEVICE_NAME_H

#include <stdbool.h>
#include <string.h>

/* The plane "/device:GPU:N" holds the work of device N. */
#define PLANE_DEVICE "/device:GPU:"
/*
 * The plane "/device:CUSTOM:GPU:N" holds everything about device N that is not its own work: waits
 * for it, its memory, and the overhead of tracing. XProf draws this plane, but does not count it as
 * the device's work.
 */
#define PLANE_BESIDE_DEVICE "/device:CUSTOM:GPU:"

/* "/device:" begins the names that XLA and proftap use, "#Chip" those of older TPUs. */
static inline bool plane_name_is_device(const char *name)
{
	return strncmp(name, "/device:", 8) == 0 || strncmp(name, "#Chip", 5) == 0;
}

#endif
