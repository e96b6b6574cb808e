/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a recording; see recording_cut.h. */
#include "daemon/pipeline/recording/recording_cut.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "daemon/pipeline/assembly/async_carry.h"
#include "daemon/pipeline/assembly/spooler.h"
#include "daemon/pipeline/drain/drain_cut.h"
#include "daemon/pipeline/drain/thread_window.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/pipeline/usage/usage.h"
#include "daemon/target/target.h"

static void empty_rings(struct recording *r)
{
	recording_note_clock(r);
	for (size_t i = 0; i < r->n_sources; i++) {
		struct source *s = r->sources[i];

		if (source_visit(s, &r->error), s->state == SOURCE_RECORDING)
			drain_read_open(&s->drain, &r->error);
	}
}

static int cut_source(struct source *s, struct source **out, int64_t from_ns)
{
	int r = source_new(s->target, s->drain.budget, out);

	if (r)
		return r;
	(*out)->state = SOURCE_ENDED;
	collecting_copy(s, *out);
	(*out)->goes_on = s->state == SOURCE_RECORDING;
	r = drain_cut(&s->drain, &(*out)->drain);
	if (!r)
		r = usage_cut(&s->usage, &(*out)->usage, from_ns);
	return r;
}

static int cut_sources(struct recording *r, struct recording *part, int64_t from_ns)
{
	part->sources = calloc(r->n_sources, sizeof(struct source *));
	if (!part->sources)
		return -ENOMEM;
	for (; part->n_sources < r->n_sources; part->n_sources++) {
		size_t i = part->n_sources;
		int error = cut_source(r->sources[i], &part->sources[i], from_ns);

		if (error) {
			part->n_sources += part->sources[i] != NULL;
			return error;
		}
	}
	return 0;
}

static int cut_part(
	struct recording *r, struct recording *part, int64_t from_ns, uint64_t settled_ticks)
{
	int error = r->error;

	*part = *r;
	part->settled_ticks = settled_ticks;
	part->budget.window_bytes = r->part_window_bytes;
	part->sources = NULL;
	part->n_sources = part->n_allocated = 0;
	part->window_ns = from_ns - r->start.monotonic_ns;
	if (timeline_copy(&r->timeline, &part->timeline))
		error = -ENOMEM;
	if (!error)
		error = cut_sources(r, part, from_ns);
	recording_gpus_cut(r, part, from_ns);
	recording_samples_cut(r, part, from_ns);
	if (part->gpus.samples.error || part->samples.samples.error)
		error = -ENOMEM;
	part->error = error;
	r->error = 0;
	r->halted_ns = 0;
	return error;
}

int recording_cut(struct recording *r, struct recording *part, int64_t from_ns)
{
	/*
	 * Rings are emptied one by one, so the first of an async span's two marks can
	 * be in the later part.
	 */
	uint64_t settled_ticks = clock_pair_read(r->uses_ticks).ticks;

	if (r->halt_polled_ns)
		recording_poll_halt(r);
	if (r->level || r->collectors.options)
		empty_rings(r);
	r->stop = clock_pair_read(r->uses_ticks);
	if (timeline_add(&r->timeline, r->stop))
		r->error = -ENOMEM;
	return cut_part(r, part, from_ns, settled_ticks);
}

int recording_cut_last(struct recording *r, struct recording *part, int64_t from_ns)
{
	return cut_part(r, part, from_ns, UINT64_MAX);
}

void recording_part_deinit(struct recording *part)
{
	spooler_free(part->spooler);
	part->spooler = NULL;
	part->budget.sink = NULL;
	timeline_deinit(&part->timeline);
	recording_gpus_deinit(part);
	recording_samples_deinit(part);
	for (size_t i = 0; i < part->n_sources; i++)
		source_free(part->sources[i]);
	free(part->sources);
	part->sources = NULL;
	part->n_sources = 0;
}

/* --- part origin ------------------------------------------------------------------------------ */

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

void part_origin_set(struct recording *part, int64_t others_ns)
{
	uint64_t first = part->stop.ticks;

	for (size_t i = 0; i < part->n_sources; i++)
		first = part_origin_find_first(
			&part->sources[i]->drain, part->earliest_ticks, first);
	part_origin_begin(part, first, others_ns);
}
