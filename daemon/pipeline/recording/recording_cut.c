/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a recording; see recording_cut.h. */
#include "daemon/pipeline/recording/recording_cut.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/pipeline/assembly/spooler.h"
#include "daemon/pipeline/drain/drain_cut.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/pipeline/usage/usage.h"
#include "daemon/target/target.h"

static void empty_rings(struct recording *r)
{
	recording_look_at_clock(r);
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
	if (part->gpus.samples.error)
		error = -ENOMEM;
	part->error = error;
	r->error = 0;
	r->halted_ns = 0;
	return error;
}

int recording_cut(struct recording *r, struct recording *part, int64_t from_ns)
{
	/* Rings are emptied one by one, so the first of an async span's two marks can come with the later part. */
	uint64_t settled_ticks = clock_pair_read(r->uses_ticks).ticks;

	if (r->halt_looked_ns)
		recording_look_at_halt(r);
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
	for (size_t i = 0; i < part->n_sources; i++)
		source_free(part->sources[i]);
	free(part->sources);
	part->sources = NULL;
	part->n_sources = 0;
}
