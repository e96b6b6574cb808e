/* SPDX-License-Identifier: Apache-2.0 */
/* Where a snapshot begins; see part_origin.h. */
#include "daemon/part_origin.h"

#include "daemon/recording.h"
#include "daemon/source.h"
#include "daemon/thread_window.h"

static uint64_t find_first_open(const struct thread_log *log, uint64_t first)
{
	for (uint32_t i = 0; i < log->n_open; i++)
		if (log->open[i].start < first)
			first = log->open[i].start;
	return first;
}

static uint64_t find_first(const struct recording *part, uint64_t first)
{
	for (size_t i = 0; i < part->n_sources; i++) {
		const struct drain *d = &part->sources[i]->drain;

		for (size_t k = 0; k < d->n_logs; k++) {
			first = thread_window_find_first(d->logs[k], first);
			first = find_first_open(d->logs[k], first);
		}
	}
	return first;
}

void part_origin_set(struct recording *part)
{
	int64_t start_ns = part->start.monotonic_ns;
	uint64_t first = find_first(part, part->stop.ticks);
	int64_t first_ns;

	/* Only a target that writes at random has anything that is older. */
	if (first < part->start.ticks)
		first = part->start.ticks;
	/* As a time between two ticks it may be rounded up. */
	first_ns = timeline_convert(&part->timeline, first) - 1;
	if (part->window_ns < first_ns)
		first_ns = part->window_ns;
	timeline_begin_at(&part->timeline, first_ns);
	part->start = part->timeline.pairs[0];
	part->start_unix_ns += part->start.monotonic_ns - start_ns;
	part->window_ns -= part->start.monotonic_ns - start_ns;
	part->has_origin = 1;
}
