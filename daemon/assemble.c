/* SPDX-License-Identifier: Apache-2.0 */
/* From raw slots to the trace model; see assemble.h. */
#include "daemon/assemble.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/counters.h"
#include "daemon/drain.h"
#include "daemon/entry.h"
#include "daemon/events.h"
#include "daemon/losses.h"
#include "daemon/target.h"
#include "daemon/timeline.h"
#include "trace/space.h"

struct assembly {
	const struct assemble_input *in;
	struct plane *plane;
	uint32_t *event_name_of; /* string id -> index + 1 of the event name */
	uint32_t *stat_name_of; /* string id -> index + 1 of the stat name */
	uint32_t n_ids;
	uint32_t name_r, name_step_num, name_unfinished, name_value;
	struct counters counters;
	uint64_t n_invalid; /* entries that made no sense */
	int error;
};

/* The text of |id| in the arena's table, or NULL. The arena may change under us: lengths are copied. */
static const char *find_string(const struct assembly *as, uint32_t id, uint32_t *n_out)
{
	const char *table = arena_strings(as->in->drain->target->arena);
	uint32_t at = id * 8u;
	uint32_t n;

	if (id == 0 || id >= as->n_ids || at + sizeof n > ARENA_STRINGS_BYTES)
		return NULL;
	/* Read once: the target may write it meanwhile. */
	n = __atomic_load_n((const uint32_t *)(table + at), __ATOMIC_RELAXED);
	if (n > ARENA_STRINGS_BYTES - at - sizeof n)
		return NULL;
	*n_out = n;
	return table + at + sizeof n;
}

static uint32_t intern_id(const struct assembly *as, struct names *names, uint32_t id)
{
	char known[1024];
	uint32_t n = 0;
	const char *text = find_string(as, id, &n);

	if (!text)
		return names_intern(names,
			id == STRING_ID_LOST ? "(too many names)" : "(unknown name)",
			id == STRING_ID_LOST ? 16 : 14);
	if (n > sizeof known)
		n = sizeof known;
	memcpy(known, text, n);
	return names_intern(names, known, n);
}

static uint32_t cached_id(struct assembly *as, struct names *names, uint32_t *cache, uint32_t id)
{
	uint32_t index;

	if (id < as->n_ids && cache[id])
		return cache[id] - 1;
	index = intern_id(as, names, id);
	if (index == NAMES_NONE)
		as->error = -ENOMEM;
	else if (id < as->n_ids)
		cache[id] = index + 1;
	return index;
}

static uint32_t entry_name(struct assembly *as, const struct entry *e)
{
	uint32_t n;
	const char *text;

	if (e->string_id != STRING_ID_DYNAMIC)
		return cached_id(as, &as->plane->event_names, as->event_name_of, e->string_id);
	if (!e->n_slots || slot_type(e->slots[0].word[0]) != SLOT_NAME)
		return names_intern(&as->plane->event_names, "(unknown name)", 14);
	text = slot_text(e->slots, e->n_slots, &n);
	return names_intern(&as->plane->event_names, text, n);
}

static void set_text(
	struct assembly *as, struct trace_stat *stat, const char *text, uint32_t n_bytes)
{
	stat->type = STAT_STRING;
	stat->value.string = names_intern(&as->plane->stat_names, text, n_bytes);
	if (stat->value.string == NAMES_NONE)
		as->error = -ENOMEM;
}

static void stat_from_slot(
	struct assembly *as, const struct slot *slot, uint32_t n_left, struct trace_stat *stat)
{
	uint64_t bits = slot->word[1];
	uint32_t n;
	const char *text;

	switch (slot_type(slot->word[0])) {
	case SLOT_I64:
		stat->type = STAT_INT64;
		stat->value.i64 = (int64_t)bits;
		break;
	case SLOT_U64:
		stat->type = STAT_UINT64;
		stat->value.u64 = bits;
		break;
	case SLOT_F64:
		stat->type = STAT_DOUBLE;
		memcpy(&stat->value.f64, &bits, sizeof bits);
		break;
	case SLOT_POINTER: {
		char hex[24];

		n = (uint32_t)snprintf(hex, sizeof hex, "0x%" PRIx64, bits);
		set_text(as, stat, hex, n);
		break;
	}
	default:
		text = slot_text(slot, n_left, &n);
		set_text(as, stat, text, n);
		break;
	}
}

static uint32_t add_args(
	struct assembly *as, const struct entry *e, struct trace_stat *stats, uint32_t n)
{
	uint32_t at = 0;

	while (at < e->n_slots) {
		const struct slot *slot = &e->slots[at];
		unsigned type = slot_type(slot->word[0]);
		uint32_t span = slot_span(slot, e->n_slots - at);
		uint32_t key = (uint32_t)slot->word[0] & STRING_ID_MASK;

		if (!span) {
			as->n_invalid++;
			break;
		}
		if (type != SLOT_NAME && type != SLOT_DURATION && key) {
			stats[n].name =
				cached_id(as, &as->plane->stat_names, as->stat_name_of, key);
			stat_from_slot(as, slot, e->n_slots - at, &stats[n]);
			n++;
		}
		at += span;
	}
	return n;
}

static void set_int(struct trace_stat *stat, uint32_t name, int64_t value)
{
	stat->name = name;
	stat->type = STAT_INT64;
	stat->value.i64 = value;
}

static uint32_t entry_stats(struct assembly *as, const struct entry *e)
{
	struct trace_stat stats[RECORD_MAX_EXTRA + 3];
	uint32_t first;
	uint32_t n = 0;

	if (!e->n_slots && !e->is_unfinished)
		return 0;
	memset(stats, 0, sizeof stats);
	if (e->kind == RECORD_STEP && e->n_slots) {
		set_int(&stats[n++], as->name_r, 1);
		set_int(&stats[n++], as->name_step_num, (int64_t)e->slots[0].word[1]);
	}
	if (e->kind == RECORD_COUNTER && e->n_slots) {
		stats[n].name = as->name_value;
		stat_from_slot(as, &e->slots[0], e->n_slots, &stats[n]);
		n++;
	}
	n = add_args(as, e, stats, n);
	if (e->is_unfinished)
		set_int(&stats[n++], as->name_unfinished, 1);
	if (!n)
		return 0;
	first = plane_add_stats(as->plane, stats, n);
	if (!first)
		as->error = -ENOMEM;
	return first;
}

static int to_event(struct assembly *as, const struct entry *e, struct trace_event *event)
{
	struct timeline *t = as->in->timeline;
	int64_t end = timeline_convert(t, e->start + e->duration);

	event->start_ns = timeline_convert(t, e->start);
	event->duration_ns = end - event->start_ns;
	event->name = entry_name(as, e);
	event->stats = entry_stats(as, e);
	if (event->name == NAMES_NONE)
		as->error = -ENOMEM;
	return as->error;
}

static int add_entry(struct assembly *as, struct events *events, const struct entry *e)
{
	struct trace_event event;

	if (to_event(as, e, &event))
		return as->error;
	as->error = e->kind == RECORD_COUNTER ? counters_add(&as->counters, &event)
					      : events_push(events, &event, e->depth);
	return as->error;
}

static void add_records(struct assembly *as, struct events *events, const struct thread_log *log)
{
	size_t at = 0;

	while (at < log->n_slots && !as->error) {
		size_t left = log->n_slots - at - 1;
		struct entry e;

		/* A cut at the end of memory may leave an entry without all of its slots. */
		if (record_n_extra(log->slots[at].word[0]) > left)
			break;
		if (entry_decode(&e, &log->slots[at], as->in->start_ticks))
			add_entry(as, events, &e);
		else
			as->n_invalid++;
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

/* The tid, or, for a later thread that got the same tid, one beyond any tid (2^22). */
static int64_t unused_line_id(const struct plane *plane, int64_t tid)
{
	int64_t id = tid;

	for (size_t i = 0; i < plane->n_lines; i++)
		if (plane->lines[i].id == id) {
			id += INT64_C(1) << 22;
			i = (size_t)-1;
		}
	return id;
}

static int add_thread(struct assembly *as, const struct thread_log *log)
{
	struct events events = {NULL, NULL, 0, 0};
	struct line *line;

	add_records(as, &events, log);
	add_open_spans(as, &events, log);
	if (!as->error && events.n) {
		line = plane_add_line(as->plane, unused_line_id(as->plane, log->tid),
			log->name[0] ? log->name : "(unnamed)", events.n);
		as->error = line ? events_order_by_start(&events, line) : -ENOMEM;
	}
	events_deinit(&events);
	return as->error;
}

static int init(struct assembly *as, const struct assemble_input *in, struct space *space)
{
	const struct target *t = in->drain->target;
	uint32_t used = atomic_load(&t->arena->strings_used);
	struct names *names;

	memset(as, 0, sizeof *as);
	as->in = in;
	as->n_ids = (used < ARENA_STRINGS_BYTES ? used : ARENA_STRINGS_BYTES) / 8u;
	as->event_name_of = calloc(as->n_ids + 1, sizeof *as->event_name_of);
	as->stat_name_of = calloc(as->n_ids + 1, sizeof *as->stat_name_of);
	as->plane = space_add_plane(space, in->plane_id, in->plane_name);
	if (!as->event_name_of || !as->stat_name_of || !as->plane)
		return -ENOMEM;
	names = &as->plane->stat_names;
	as->name_r = names_intern(names, "_r", 2);
	as->name_step_num = names_intern(names, "step_num", 8);
	as->name_unfinished = names_intern(names, "unfinished", 10);
	as->name_value = names_intern(names, "value", 5);
	if (plane_set_int(as->plane, "process_id", t->pid) ||
		plane_set_string(as->plane, "ptap_process_name", t->name))
		return -ENOMEM;
	return 0;
}

static void deinit(struct assembly *as)
{
	counters_deinit(&as->counters);
	free(as->event_name_of);
	free(as->stat_name_of);
}

int assemble_host_plane(const struct assemble_input *in, struct space *space)
{
	struct assembly as;
	int r = init(&as, in, space);

	for (size_t i = 0; i < in->drain->n_logs && !r; i++)
		r = add_thread(&as, in->drain->logs[i]);
	if (!r)
		r = counters_add_lines(&as.counters, as.plane);
	if (!r)
		r = losses_add(in->drain, as.n_invalid, as.plane, space);
	deinit(&as);
	return r;
}
