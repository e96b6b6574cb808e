/* SPDX-License-Identifier: Apache-2.0 */
/* Where a snapshot begins; see part_origin.h. */
#include "daemon/recording/part_origin.h"

#include "base/clock.h"
#include "daemon/assembly/async_carry.h"
#include "daemon/drain/thread_window.h"
#include "daemon/recording/recording.h"
#include "daemon/recording/source.h"

/* What devices did comes so much later at most: a vendor's library hands it on once a second, or so, and a poll takes it. */
#define MAX_LATE_NS (2 * NS_PER_S)

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

static int64_t find_lateness_ns(const struct recording *part)
{
	for (size_t i = 0; i < part->n_sources; i++)
		if (part->sources[i]->collecting.is_begun)
			return MAX_LATE_NS;
	return 0;
}

void part_origin_begin(struct recording *part, uint64_t first)
{
	int64_t earliest_ns = part->window_ns - find_lateness_ns(part);
	int64_t start_ns = part->start.monotonic_ns;
	int64_t first_ns;

	/* Only a target that writes at random has anything that is older. */
	if (first < part->start.ticks)
		first = part->start.ticks;
	/* As a time between two ticks it may be rounded up. */
	first_ns = timeline_convert(&part->timeline, first) - 1;
	if (earliest_ns < first_ns)
		first_ns = earliest_ns;
	timeline_begin_at(&part->timeline, first_ns);
	part->start = part->timeline.pairs[0];
	part->start_unix_ns += part->start.monotonic_ns - start_ns;
	part->window_ns -= part->start.monotonic_ns - start_ns;
	part->has_origin = 1;
}

void part_origin_set(struct recording *part)
{
	uint64_t first = part->stop.ticks;

	for (size_t i = 0; i < part->n_sources; i++)
		first = part_origin_find_first(
			&part->sources[i]->drain, part->earliest_ticks, first);
	part_origin_begin(part, first);
}
