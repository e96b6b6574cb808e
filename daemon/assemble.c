/* SPDX-License-Identifier: Apache-2.0 */
/* From raw slots to the trace model; see assemble.h. */
#include "daemon/assemble.h"

#include <errno.h>
#include <string.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "daemon/asyncs.h"
#include "daemon/counters.h"
#include "daemon/drain.h"
#include "daemon/entry.h"
#include "daemon/events.h"
#include "daemon/line_id.h"
#include "daemon/losses.h"
#include "daemon/stats.h"
#include "daemon/target.h"
#include "daemon/texts.h"
#include "daemon/timeline.h"
#include "trace/space.h"

struct assembly {
	const struct assemble_input *in;
	struct plane *plane;
	struct texts texts;
	struct stats stats;
	struct counters counters;
	struct asyncs asyncs;
	uint64_t n_invalid; /* entries that made no sense */
	int error;
};

static int to_event(
	struct assembly *as, const struct entry *e, uint32_t name, struct trace_event *event)
{
	struct timeline *t = as->in->timeline;
	int64_t end = timeline_convert(t, e->start + e->duration);

	event->start_ns = timeline_convert(t, e->start);
	event->duration_ns = end - event->start_ns;
	event->name = name;
	event->stats = stats_add(&as->stats, e, name);
	return as->stats.error;
}

static int add_async_mark(struct assembly *as, const struct entry *e, uint32_t name)
{
	const struct slot *id = entry_number(e);

	if (id)
		return asyncs_add(&as->asyncs, e, name, id->word[1]);
	as->n_invalid++;
	return 0;
}

static int add_event(
	struct assembly *as, struct events *events, const struct entry *e, uint32_t name)
{
	struct trace_event event;
	int r = to_event(as, e, name, &event);

	if (r)
		return r;
	return e->kind == RECORD_COUNTER ? counters_add(&as->counters, &event)
					 : events_push(events, &event, e->depth);
}

static void add_entry(struct assembly *as, struct events *events, const struct entry *e)
{
	uint32_t name = texts_get_event_name(&as->texts, e);

	if (name == NAMES_NONE)
		as->error = -ENOMEM;
	else if (e->kind == RECORD_ASYNC_BEGIN || e->kind == RECORD_ASYNC_END)
		as->error = add_async_mark(as, e, name);
	else
		as->error = add_event(as, events, e, name);
}

static void add_records(struct assembly *as, struct events *events, const struct thread_log *log)
{
	size_t at = 0;

	for (size_t i = 0; at < log->n_slots && !as->error; i++) {
		size_t left = log->n_slots - at - 1;
		struct entry e;

		/* A cut at the end of memory may leave an entry without all of its slots. */
		if (record_n_extra(log->slots[at].word[0]) > left)
			break;
		if (!entry_decode(&e, &log->slots[at], as->in->earliest_ticks))
			as->n_invalid++;
		else if (e.start >= as->in->start_ticks)
			add_entry(as, events, &e);
		if (!as->error)
			as->error = cancel_look_at(as->in->cancel, i);
		at += 1 + e.n_slots;
	}
}

/* Spans that were open at the end are cut there. The innermost comes first, as if they ended now. */
static void add_open_spans(struct assembly *as, struct events *events, const struct thread_log *log)
{
	for (uint32_t i = log->n_open; i-- > 0 && !as->error;) {
		const struct open_span *open = &log->open[i];
		struct entry e = {
			.start = open->start,
			.depth = i,
			.kind = open->kind & ~RING_OPEN_HAS_FRAME,
			.string_id = open->string_id,
			.slots = open->slots,
			.n_slots = open->n_slots,
			.is_unfinished = 1,
		};

		if (open->start < as->in->start_ticks || open->start > as->in->stop_ticks)
			continue;
		if (e.kind != RECORD_SPAN && e.kind != RECORD_STEP) {
			as->n_invalid++;
			continue;
		}
		e.duration = as->in->stop_ticks - open->start;
		add_entry(as, events, &e);
	}
}

static int add_thread(struct assembly *as, const struct thread_log *log, int64_t line_id)
{
	struct events events = {.n = 0};
	struct line *line;

	add_records(as, &events, log);
	add_open_spans(as, &events, log);
	if (!as->error && events.n) {
		line = plane_add_line(
			as->plane, line_id, log->name[0] ? log->name : "(unnamed)", events.n);
		as->error = line ? events_order_by_start(&events, line, as->in->cancel) : -ENOMEM;
	}
	events_deinit(&events);
	return as->error;
}

static int init(struct assembly *as, const struct assemble_input *in, struct space *space)
{
	struct target *t = in->drain->target;

	memset(as, 0, sizeof *as);
	as->in = in;
	as->plane = space_add_plane(space, in->plane_id, in->plane_name);
	if (!as->plane || texts_init(&as->texts, t->arena, as->plane))
		return -ENOMEM;
	stats_init(&as->stats, as->plane, &as->texts);
	if (plane_set_int(as->plane, "process_id", t->pid) ||
		plane_set_string(as->plane, "ptap_process_name", t->name))
		return -ENOMEM;
	return 0;
}

static void deinit(struct assembly *as)
{
	asyncs_deinit(&as->asyncs);
	counters_deinit(&as->counters);
	texts_deinit(&as->texts);
}

static int add_losses(const struct assembly *as, struct space *space)
{
	struct losses_seen seen = {
		.n_invalid = as->n_invalid + as->stats.n_invalid,
		.n_unmatched_ends = as->asyncs.n_unmatched,
		.n_crowded_asyncs = as->asyncs.n_crowded,
	};

	return losses_add(as->in->drain, &seen, as->plane, space);
}

int assemble_host_plane(const struct assemble_input *in, struct space *space)
{
	_cleanup_free_ int64_t *line_ids = NULL;
	struct assembly as;
	int r = init(&as, in, space);

	if (!r)
		r = line_id_make(in->drain, &line_ids);
	for (size_t i = 0; i < in->drain->n_logs && !r; i++)
		r = add_thread(&as, in->drain->logs[i], line_ids[i]);
	if (!r)
		r = asyncs_add_lines(&as.asyncs, in, as.plane, &as.stats);
	if (!r)
		r = counters_add_lines(&as.counters, as.plane, in->cancel);
	if (!r)
		r = add_losses(&as, space);
	deinit(&as);
	return r;
}
