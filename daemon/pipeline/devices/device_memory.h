/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws device memory for XProf's memory profile: events of the host's plane that say how much is
 * in use after them. The memory in use at the start is unknown; it is taken to be as much as was
 * given back of it.
 */
#ifndef DAEMON_DEVICE_MEMORY_H
#define DAEMON_DEVICE_MEMORY_H

#include <stddef.h>

struct device_drawing;
struct line;
struct plane;

/*
 * Adds a line to |host| for the line |i| of devices, whose events |made| are from
 * device_drawing_make_line(). |number| is the number of such lines that the process already has
 * there. 0 or -ENOMEM.
 */
int device_memory_add(const struct device_drawing *g, size_t i, const struct line *made,
	unsigned number, struct plane *host);

#endif
