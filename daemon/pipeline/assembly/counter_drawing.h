/* SPDX-License-Identifier: Apache-2.0 */
/* Counters that are drawn into a plane one after another, from values and times. */
#ifndef DAEMON_COUNTER_DRAWING_H
#define DAEMON_COUNTER_DRAWING_H

#include <stdint.h>

#include "daemon/pipeline/assembly/counters.h"

struct plane;

struct counter_drawing {
	struct plane *plane; /* borrowed */
	int64_t start_ns;
	int64_t length_ns;
	uint32_t name_value; /* stat name */
	uint32_t name; /* event name of the counter that is being drawn */
	struct counters counters;
};

/* The recording ran from |start_ns| to |stop_ns|, on the clock of the times that come. Each: 0 or -ENOMEM. */
int counter_drawing_init(
	struct counter_drawing *g, struct plane *plane, int64_t start_ns, int64_t stop_ns);
int counter_drawing_begin(struct counter_drawing *g, const char *name);
/* To two digits behind the point. A moment before the start, or after the stop, is at it. */
int counter_drawing_add(struct counter_drawing *g, int64_t at_ns, double value);
/* Makes the lines. */
int counter_drawing_finish(struct counter_drawing *g);
void counter_drawing_deinit(struct counter_drawing *g); /* all zero is empty */

#endif
