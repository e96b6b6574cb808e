/* SPDX-License-Identifier: Apache-2.0 */
/* The spans that are open at a sample; see enclosing_spans.h. */
#include "trace/read/enclosing_spans.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

const struct view_track *view_find_sampled_thread(
	const struct view *view, const struct view_track *samples)
{
	for (size_t i = 0; i < view->n_tracks; i++) {
		const struct view_track *t = &view->tracks[i];

		if (t->kind == TRACK_THREAD && !t->is_derived && t->origin == samples->origin &&
			t->is_origin_real && t->origin_tid == samples->origin_tid)
			return t;
	}
	return NULL;
}

static int read_next(struct enclosing_spans *o)
{
	int r;

	do
		r = cursor_next(&o->cursor, &o->next);
	while (r > 0 && !o->next.duration_ns);
	o->has_next = r > 0;
	return r < 0 ? r : 0;
}

int enclosing_spans_begin(struct enclosing_spans *o, const struct view *view,
	const struct view_track *samples, struct diag *d)
{
	*o = (struct enclosing_spans){.n = 0};
	return enclosing_spans_begin_on(o, view, view_find_sampled_thread(view, samples), d);
}

int enclosing_spans_begin_on(struct enclosing_spans *o, const struct view *view,
	const struct view_track *thread, struct diag *d)
{
	int r;

	*o = (struct enclosing_spans){.opened = o->opened, .context = o->context};
	if (!thread)
		return 0;
	r = cursor_open(&o->cursor, view, thread, d);
	o->has_cursor = true;
	return r ? r : read_next(o);
}

void enclosing_spans_end(struct enclosing_spans *o)
{
	if (o->has_cursor)
		cursor_close(&o->cursor);
	free(o->v);
	*o = (struct enclosing_spans){.n = 0};
}

static void close_until(struct enclosing_spans *o, int64_t at_ns)
{
	while (o->n && o->v[o->n - 1].end_ns <= at_ns)
		o->n--;
}

int enclosing_spans_move(struct enclosing_spans *o, int64_t at_ns)
{
	int r = 0;

	while (o->has_next && o->next.start_ns <= at_ns && r == 0) {
		close_until(o, o->next.start_ns);
		if (grow(&o->v, &o->n_allocated, o->n + 1))
			return -ENOMEM;
		o->v[o->n++] = (struct enclosing_span){
			.start_ns = o->next.start_ns,
			.end_ns = add_saturated(o->next.start_ns, o->next.duration_ns),
			.name = o->next.name,
			.is_step = o->next.is_step,
			.step_num = o->next.step_num,
		};
		r = o->opened ? o->opened(o->context, o) : 0;
		if (!r)
			r = read_next(o);
	}
	close_until(o, at_ns);
	return r;
}
