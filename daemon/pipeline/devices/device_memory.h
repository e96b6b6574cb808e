/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory that was taken and given back, once more as XProf's memory profile looks for it: events of the host's plane that say how
 * much is in use behind them. Nobody knows what was taken before the recording: it is as much as was given back of it, at least.
 */
#ifndef DAEMON_DEVICE_MEMORY_H
#define DAEMON_DEVICE_MEMORY_H

#include <stddef.h>

struct device_drawing;
struct line;
struct plane;

/*
 * Adds a line to |host| for the line |i| of devices, whose events |made| are as device_drawing_make_line() has them, of the plane at
 * hand. |number|: how many of the process's have one there already. 0 or -ENOMEM.
 */
int device_memory_add(const struct device_drawing *g, size_t i, const struct line *made,
	unsigned number, struct plane *host);

#endif
