/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs and stragglers; see merge.h. Most bytes are not looked at: only in the run into which a straggler falls its place
 * is searched.
 */
#include "daemon/pipeline/assembly/merge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "daemon/pipeline/assembly/spool.h"
#include "daemon/pipeline/assembly/track.h"
#include "trace/xspace/xspace_events.h"

void merge_init(struct merge *m, const struct track *track, const struct spool *spool)
{
	*m = (struct merge){.track = track, .spool = spool, .run = track->first_run};
}

void merge_deinit(struct merge *m)
{
	free(m->room);
	memset(m, 0, sizeof *m);
}

static const struct straggler *next_straggler(const struct merge *m)
{
	const struct stragglers *s = &m->track->stragglers;

	return m->straggler < s->n ? &s->v[m->straggler] : NULL;
}

/* All that is left of the runs that end before |straggler|, or of all runs, as far as they lie in a row. */
static void take_runs(struct merge *m, const struct straggler *straggler, struct piece *out)
{
	const struct track *t = m->track;

	for (; m->run < t->n_runs; m->run++) {
		const struct run *run = &t->runs[m->run];

		if (straggler && !event_comes_before(&run->last, &straggler->event))
			break;
		if (!out->n_bytes)
			out->offset = run->offset + m->at;
		else if (out->offset + out->n_bytes != run->offset + m->at)
			break;
		out->n_bytes += run->n_bytes - m->at;
		m->at = 0;
	}
}

/* Of the run that |straggler| falls into, what comes before it. */
static int take_part(struct merge *m, const struct straggler *straggler, struct piece *out)
{
	const struct run *run = &m->track->runs[m->run];
	uint32_t left = run->n_bytes - m->at;
	ssize_t n;
	int r;

	if (grow(&m->room, &m->room_bytes, left))
		return -ENOMEM;
	r = spool_read(m->spool, run->offset + m->at, m->room, left);
	if (r)
		return r;
	n = xspace_events_find(m->room, left, &straggler->event);
	if (n < 0)
		return (int)n;
	if (!out->n_bytes)
		out->offset = run->offset + m->at;
	out->n_bytes += (uint64_t)n;
	m->at += (uint32_t)n;
	return 0;
}

/* Whether the run at hand begins where |out| ends. */
static int follows(const struct merge *m, const struct piece *out)
{
	return !out->n_bytes || m->track->runs[m->run].offset + m->at == out->offset + out->n_bytes;
}

/* Whether |straggler| is the next of all. */
static bool is_due(const struct merge *m, const struct straggler *straggler)
{
	return straggler &&
	       (m->run == m->track->n_runs ||
		       !event_comes_before(&m->track->runs[m->run].last, &straggler->event));
}

static void take_straggler(struct merge *m, const struct straggler *s, struct piece *out)
{
	*out = (struct piece){m->track->stragglers.bytes + s->at, 0, s->n_bytes};
	m->straggler++;
}

int merge_next(struct merge *m, struct piece *out)
{
	const struct straggler *straggler = next_straggler(m);
	int r = 0;

	*out = (struct piece){NULL, 0, 0};
	take_runs(m, straggler, out);
	if (is_due(m, straggler) && m->run < m->track->n_runs && follows(m, out))
		r = take_part(m, straggler, out);
	if (r)
		return r;
	if (!out->n_bytes && straggler)
		take_straggler(m, straggler, out);
	return out->n_bytes > 0;
}
