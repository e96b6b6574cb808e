/* SPDX-License-Identifier: Apache-2.0 */
/* The origin of a part; see part_origin.h. */
#include "daemon/pipeline/recording/part_origin.h"

#include <stdbool.h>

#include "daemon/pipeline/assembly/async_carry.h"
#include "daemon/pipeline/drain/thread_window.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/source.h"

static uint64_t find_first_open(const struct thread_log *log, uint64_t first)
{
	for (uint32_t i = 0; i < log->n_open; i++)
		if (log->open[i].start < first)
			first = log->open[i].start;
	return first;
}

uint64_t part_origin_find_first(const struct drain *d, uint64_t earliest_ticks, uint64_t first)
{
	for (size_t i = 0; i < d->n_logs; i++) {
		first = thread_window_find_first(d->logs[i], earliest_ticks, first);
		first = find_first_open(d->logs[i], first);
	}
	return first;
}

uint64_t part_origin_find_first_carried(const struct async_carries *carries, uint64_t first)
{
	for (size_t i = 0; i < carries->n; i++)
		for (size_t k = 0; k < carries->v[i]->n_marks; k++)
			if (carries->v[i]->marks[k].ticks < first)
				first = carries->v[i]->marks[k].ticks;
	return first;
}

/* Time since the start of the recording, at least 0. */
static int64_t find_since_start(const struct recording *part, int64_t at_ns)
{
	return at_ns > part->start.monotonic_ns ? at_ns - part->start.monotonic_ns : 0;
}

void part_origin_begin(struct recording *part, uint64_t first, int64_t devices_ns)
{
	int64_t start_ns = part->start.monotonic_ns;
	int64_t of_devices_ns = find_since_start(part, devices_ns);
	int64_t first_ns;

	/* Only a target that writes at random has older records. */
	if (first < part->start.ticks)
		first = part->start.ticks;
	/* The conversion may round up. */
	first_ns = timeline_convert(&part->timeline, first) - 1;
	if (part->window_ns < first_ns)
		first_ns = part->window_ns;
	if (of_devices_ns < first_ns)
		first_ns = of_devices_ns;
	timeline_begin_at(&part->timeline, first_ns);
	part->start = part->timeline.pairs[0];
	part->start_unix_ns += part->start.monotonic_ns - start_ns;
	part->window_ns -= part->start.monotonic_ns - start_ns;
	part->has_origin = true;
}

void part_origin_set(struct recording *part)
{
	uint64_t first = part->stop.ticks;

	for (size_t i = 0; i < part->n_sources; i++)
		first = part_origin_find_first(
			&part->sources[i]->drain, part->earliest_ticks, first);
	part_origin_begin(part, first, INT64_MAX);
}
