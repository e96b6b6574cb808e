/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the samples of each counter from all threads, and makes a line of them. */
#ifndef DAEMON_COUNTERS_H
#define DAEMON_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

struct plane;
struct series;
struct trace_event;
struct trace_stat;

struct counter_table {
	struct series *series;
	size_t n_series;
	size_t n_series_allocated;
	uint32_t *series_of_name; /* index + 1 */
	size_t n_names; /* of series_of_name */
	struct trace_stat
		*stats; /* copies: the plane may drop its stats before the samples are used */
	size_t n_stats;
	size_t n_stats_allocated;
};

/* All zero is the empty state. */
void counters_deinit(struct counter_table *c);

/*
 * Adds |event|, whose stats are in |plane|, as a sample of the counter with the same name. 0 or
 * -ENOMEM.
 */
int counters_add(
	struct counter_table *c, const struct plane *plane, const struct trace_event *event);

/*
 * Adds a line "_counters_" for each counter, so that its samples stay together and in order. 0,
 * -ENOMEM or -ECANCELED (|cancel|, NULL ok).
 */
int counters_add_lines(
	const struct counter_table *c, struct plane *plane, const _Atomic int *cancel);

/* Draws counters into a plane, one after another, from values and times. */
struct counter_drawing {
	struct plane *plane; /* borrowed */
	int64_t start_ns;
	int64_t length_ns;
	uint32_t name_value; /* stat name */
	uint32_t name; /* event name of the counter that is being drawn */
	struct counter_table counters;
};

/*
 * The recording ran from |start_ns| to |stop_ns|, on the clock of the samples. All functions return
 * 0 or -ENOMEM.
 */
int counter_drawing_init(
	struct counter_drawing *g, struct plane *plane, int64_t start_ns, int64_t stop_ns);
int counter_drawing_begin(struct counter_drawing *g, const char *name);
/* Rounds |value| to two decimals. A time outside of the recording becomes its start or stop. */
int counter_drawing_add(struct counter_drawing *g, int64_t at_ns, double value);
/* Adds the lines to the plane. */
int counter_drawing_finish(struct counter_drawing *g);
void counter_drawing_deinit(struct counter_drawing *g); /* all zero is empty */

#endif
