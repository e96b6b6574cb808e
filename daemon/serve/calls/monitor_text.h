/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer of Monitor: numbers, and a text for people; and the steps of the recording behind it.
 */
#ifndef DAEMON_MONITOR_TEXT_H
#define DAEMON_MONITOR_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tsl/profiler/protobuf/profiler_service_monitor_result.pb-c.h"

struct delivery;
struct target;
struct usage;

/* The steps and other events of a short recording. */
struct step_times {
	/* Steps that began in the recording; one that began before does not count. */
	uint64_t n_steps;
	uint64_t n_ended; /* of these steps, in the recording */
	int64_t total_ns; /* of the steps that ended */
	int64_t min_ns;
	int64_t max_ns;
	uint64_t n_events; /* spans, steps included, instants and samples of counters */
	uint64_t n_threads; /* threads that have spans or instants */
};

/* Reads |d|, an XSpace, to its end. 0, or a negative errno; then *out is all zero. */
int step_times_read(struct delivery *d, struct step_times *out);

struct monitor_text {
	FILE *to;
	const struct target *target;
	const struct usage *usage; /* finished */
	const struct step_times *steps; /* NULL: not known */
	double seconds; /* of the measurement */
	bool is_detailed;
	bool is_stamped; /* the text begins with the time */
};

/* Writes the text, one fact a line, all of it printable, and fills in |result|. */
void monitor_text_write(
	const struct monitor_text *m, Tensorflow__ProfilerServiceMonitorResult *result);

#endif
