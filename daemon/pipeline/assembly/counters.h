/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of all counters, collected over all threads, and the lines they become. */
#ifndef DAEMON_COUNTERS_H
#define DAEMON_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

struct plane;
struct series;
struct trace_event;
struct trace_stat;

struct counters {
	struct series *series;
	size_t n_series;
	size_t n_series_allocated;
	uint32_t *series_of_name; /* index + 1 */
	size_t n_names; /* of series_of_name */
	struct trace_stat *stats; /* of the samples: the plane's may go before the samples do */
	size_t n_stats;
	size_t n_stats_allocated;
};

/* All zero is the empty state. */
void counters_deinit(struct counters *c);

/* A sample of the counter that |event|, with stats in |plane|, names. 0 or -ENOMEM. */
int counters_add(struct counters *c, const struct plane *plane, const struct trace_event *event);

/*
 * A line "_counters_" for each: so its samples stay together and the line stays sorted. 0, -ENOMEM or -ECANCELED
 * (|cancel|, NULL ok).
 */
int counters_add_lines(const struct counters *c, struct plane *plane, const _Atomic int *cancel);

#endif
