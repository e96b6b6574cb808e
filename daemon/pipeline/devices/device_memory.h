/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws device memory for XProf's memory profile: events of the host's plane that contain the
 * memory in use after them. The memory in use at the start is unknown; the least amount is assumed
 * with which it never becomes negative.
 */
#ifndef DAEMON_DEVICE_MEMORY_H
#define DAEMON_DEVICE_MEMORY_H

#include <stddef.h>

struct device_drawing;
struct line;
struct plane;

/*
 * Adds to |host| a memory line for the line |i| of devices. |made| has the events of that line,
 * from device_drawing_make_line(). |number| is the number of memory lines that the process already
 * has in |host|. 0 or -ENOMEM.
 */
int device_memory_add(const struct device_drawing *g, size_t i, const struct line *made,
	unsigned number, struct plane *host);

#endif
