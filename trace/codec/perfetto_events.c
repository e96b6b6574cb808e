/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the items of each track as a sequence of packets. A span is two packets, one for its begin
 * and one for its end. The packets of a sequence are in the order of time, so that each can hold
 * the difference from the time of the one before. Names and keys are numbers, which are defined in
 * the packet that uses them first.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/codec/perfetto.h"
#include "trace/codec/perfetto_fields.h"
#include "trace/codec/perfetto_rows.h"
#include "trace/codec/perfetto_tracks.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

/* --- interned texts ------------------------------------------------------------------------ */

/*
 * Numbers that a sequence has given to names, keys and counters, by their indices. They are valid
 * in that sequence only.
 */
struct perfetto_interned {
	struct perfetto_number {
		uint64_t id; /* valid if |sequence| is the current one */
		uint32_t sequence;
	} * v;
	size_t n_allocated; /* at least the number of indices */
	uint32_t n; /* ids given in |sequence| */
	uint32_t sequence; /* > 0 */
};

/* Makes room for indices below |n|. 0 or -ENOMEM. */
static int perfetto_interned_resize(struct perfetto_interned *t, size_t n)
{
	size_t n_before = t->n_allocated;

	if (grow(&t->v, &t->n_allocated, n))
		return -ENOMEM;
	if (t->n_allocated > n_before)
		memset(t->v + n_before, 0, (t->n_allocated - n_before) * sizeof *t->v);
	return 0;
}

static void perfetto_interned_begin(struct perfetto_interned *t, uint32_t sequence)
{
	t->sequence = sequence;
	t->n = 0;
}

/* Returns the id of |index|; 0: it has none yet. */
static uint64_t perfetto_interned_find(const struct perfetto_interned *t, uint32_t index)
{
	return t->v[index].sequence == t->sequence ? t->v[index].id : 0;
}

static void perfetto_interned_set(struct perfetto_interned *t, uint32_t index, uint64_t id)
{
	t->v[index].sequence = t->sequence;
	t->v[index].id = id;
}

/* --- arguments ----------------------------------------------------------------------------- */

#define ARG_BYTES 128 /* size limit of an argument without its texts */

/* Returns the most bytes that the arguments take. */
static size_t perfetto_args_measure(const struct item_arg *args, size_t n)
{
	size_t n_bytes = n * ARG_BYTES;

	for (size_t i = 0; i < n; i++) {
		n_bytes += PACKET_TEXT_BYTES(strlen(args[i].key));
		if (args[i].type == STAT_STRING || args[i].type == STAT_BYTES)
			n_bytes += PACKET_TEXT_BYTES(args[i].n_bytes);
	}
	return n_bytes;
}

/* Writes entries for the keys that the sequence does not know yet. */
static uint8_t *perfetto_args_intern(
	uint8_t *at, const struct item_arg *args, size_t n, struct perfetto_interned *keys)
{
	for (size_t i = 0; i < n; i++)
		if (!perfetto_interned_find(keys, args[i].key_index)) {
			perfetto_interned_set(keys, args[i].key_index, ++keys->n);
			at = packet_interned(at, INTERNED_ANNOTATION_NAMES, keys->n, args[i].key);
		}
	return at;
}

static uint8_t *put_arg_value(uint8_t *at, const struct item_arg *arg)
{
	switch (arg->type) {
	case STAT_INT64:
		return pb_put_uint(at, ANNOTATION_INT, arg->value.u64);
	case STAT_UINT64:
		return pb_put_uint(at, ANNOTATION_UINT, arg->value.u64);
	case STAT_DOUBLE:
		return packet_double(at, ANNOTATION_DOUBLE, arg->value.f64);
	case STAT_STRING:
		return packet_text(at, ANNOTATION_STRING, arg->text, arg->n_bytes);
	case STAT_BYTES:
		return packet_base64(at, ANNOTATION_STRING, arg->text, arg->n_bytes);
	}
	return at;
}

/* Writes the arguments as debug annotations, whose keys are interned. */
static uint8_t *perfetto_args_put(
	uint8_t *at, const struct item_arg *args, size_t n, const struct perfetto_interned *keys)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t *annotation = packet_open(at, EVENT_ANNOTATIONS);

		at = pb_put_uint(annotation, ANNOTATION_NAME_IID,
			perfetto_interned_find(keys, args[i].key_index));
		at = packet_close(annotation, put_arg_value(at, &args[i]));
	}
	return at;
}

/* --- sequences ----------------------------------------------------------------------------- */

#define PERFETTO_FEW_BYTES 256 /* a packet without texts */
#define PERFETTO_STEP_IID 1 /* id of the category of steps */

struct perfetto_sequence {
	struct perfetto *w;
	const struct view_track *track;
	uint32_t id;
	uint32_t host;
	bool has_begun;
	uint64_t last_ns; /* time of the last packet, on the file's clock */
	uint64_t n_spans; /* spans that began */
	struct perfetto_interned names;
	struct perfetto_interned keys;
	struct perfetto_interned counters; /* ids of counters' tracks */
	struct perfetto_rows rows;
	struct perfetto_ends ends;
};

#define STEP "step"

/* Writes the sequence's defaults, and a clock that begins at 0 and counts from packet to packet. */
static int perfetto_sequence_begin(struct perfetto_sequence *s)
{
	uint8_t *packet = perfetto_reserve(s->w, PERFETTO_FEW_BYTES);
	uint8_t *message;
	uint8_t *inner;
	uint8_t *at;

	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = pb_put_uint(packet, PACKET_SEQUENCE_ID, s->id);
	at = perfetto_put_machine(s->w, at, s->host);
	at = pb_put_uint(at, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
	at = pb_put_uint(at, PACKET_FIRST_ON_SEQUENCE, 1);
	message = packet_open(at, PACKET_DEFAULTS);
	inner = packet_open(message, DEFAULTS_TRACK_EVENT);
	at = pb_put_uint(inner, EVENT_DEFAULTS_TRACK, perfetto_track_uuid(s->w->view, s->track));
	at = pb_put_uint(packet_close(inner, at), DEFAULTS_CLOCK_ID, CLOCK_DIFFERENCE_ID);
	at = packet_close(message, at);
	message = packet_open(at, PACKET_CLOCK_SNAPSHOT);
	at = perfetto_put_clock(message, CLOCK_DIFFERENCE_ID, 0, true);
	at = perfetto_put_clock(at, CLOCK_TRACE_ID, 0, false);
	s->has_begun = true;
	return perfetto_put(s->w, packet, packet_close(message, at));
}

/* Writes the first fields of an event's packet; returns the place behind them. */
static uint8_t *perfetto_sequence_put_head(
	struct perfetto_sequence *s, uint8_t *at, int64_t view_ns)
{
	uint64_t ns = perfetto_time(s->w, view_ns);

	at = pb_put_wide_uint(at, PACKET_TIMESTAMP, ns - s->last_ns);
	at = pb_put_uint(at, PACKET_SEQUENCE_ID, s->id);
	s->last_ns = ns;
	return perfetto_put_machine(s->w, at, s->host);
}

/*
 * Writes the names and keys of |item| that the sequence does not know. A sample needs no name,
 * because the descriptor of its track has the name.
 */
static uint8_t *perfetto_sequence_put_interned(
	struct perfetto_sequence *s, uint8_t *at, const struct item *item)
{
	bool is_named = item->kind != ITEM_SAMPLE;
	bool is_new = is_named && !perfetto_interned_find(&s->names, item->name);
	uint8_t *message;

	if (!is_new && !item->n_args)
		return at;
	message = packet_open(at, PACKET_INTERNED_DATA);
	at = message;
	if (is_new) {
		if (s->names.n == 0)
			at = packet_interned(at, INTERNED_CATEGORIES, PERFETTO_STEP_IID, STEP);
		perfetto_interned_set(&s->names, item->name, ++s->names.n);
		at = packet_interned(at, INTERNED_EVENT_NAMES, s->names.n,
			names_get(&s->w->view->names, item->name));
	}
	at = perfetto_args_intern(at, item->args, item->n_args, &s->keys);
	return packet_close(message, at);
}

/* --- spans and instants -------------------------------------------------------------------- */

static size_t measure_event(const struct perfetto_sequence *s, const struct item *item)
{
	size_t n = PERFETTO_FEW_BYTES + perfetto_args_measure(item->args, item->n_args);

	if (!perfetto_interned_find(&s->names, item->name))
		n += PACKET_TEXT_BYTES(strlen(names_get(&s->w->view->names, item->name)));
	return n;
}

/*
 * Perfetto draws an arrow from each event with the id to the next one in time. No end is marked as
 * the last one (terminating_flow_ids): a flow may have several ends, and none would be drawn after
 * the marked one.
 */
static uint8_t *put_flows(uint8_t *at, const struct item *item)
{
	if (item->flow_out)
		at = packet_fixed64(at, EVENT_FLOW_IDS, item->flow_out);
	if (item->flow_in && item->flow_in != item->flow_out)
		at = packet_fixed64(at, EVENT_FLOW_IDS, item->flow_in);
	return at;
}

static uint8_t *put_event_fields(struct perfetto_sequence *s, uint8_t *at, const struct item *item)
{
	at = pb_put_uint(at, EVENT_NAME_IID, perfetto_interned_find(&s->names, item->name));
	if (item->is_step)
		at = pb_put_uint(at, EVENT_CATEGORY_IIDS, PERFETTO_STEP_IID);
	at = put_flows(at, item);
	return perfetto_args_put(at, item->args, item->n_args, &s->keys);
}

/* Writes the begin of a span in |row|, or an instant, in row 0. */
static int put_event(
	struct perfetto_sequence *s, const struct item *item, uint64_t type, uint32_t row)
{
	uint8_t *packet = perfetto_reserve(s->w, measure_event(s, item));
	uint8_t *event;
	uint8_t *at;

	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = perfetto_sequence_put_head(s, packet, item->start_ns);
	at = perfetto_sequence_put_interned(s, at, item);
	event = packet_open(at, PACKET_TRACK_EVENT);
	at = pb_put_uint(event, EVENT_TYPE, type);
	if (row)
		at = pb_put_uint(at, EVENT_TRACK, s->rows.v[row].uuid);
	at = put_event_fields(s, at, item);
	return perfetto_put(s->w, packet, packet_close(event, at));
}

static int put_end(struct perfetto_sequence *s, const struct perfetto_end *end)
{
	uint8_t *packet = perfetto_reserve(s->w, PERFETTO_FEW_BYTES);
	uint8_t *event;
	uint8_t *at;

	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = perfetto_sequence_put_head(s, packet, end->end_ns);
	event = packet_open(at, PACKET_TRACK_EVENT);
	at = pb_put_uint(event, EVENT_TYPE, TYPE_END);
	if (end->row)
		at = pb_put_uint(at, EVENT_TRACK, s->rows.v[end->row].uuid);
	return perfetto_put(s->w, packet, packet_close(event, at));
}

static struct perfetto_end take_end(struct perfetto_sequence *s)
{
	struct perfetto_end end = perfetto_ends_take(&s->ends);
	struct perfetto_row *row = &s->rows.v[end.row];

	row->depth--;
	row->n_finished -= !end.is_unfinished;
	return end;
}

/* Writes the ends of all spans that end at |at_ns| or before. */
static int put_ends(struct perfetto_sequence *s, int64_t at_ns)
{
	int r = 0;

	while (r == 0 && perfetto_ends_has(&s->ends, at_ns)) {
		struct perfetto_end end = take_end(s);

		r = put_end(s, &end);
	}
	return r;
}

/*
 * Writes the ends of spans at the end of the track. Unfinished spans stay open, unless that would
 * keep a finished one around them open.
 */
static int put_last_ends(struct perfetto_sequence *s)
{
	int r = 0;

	while (r == 0 && s->ends.n) {
		struct perfetto_end end = take_end(s);

		if (!end.is_unfinished || s->rows.v[end.row].n_finished)
			r = put_end(s, &end);
	}
	return r;
}

static int put_span(struct perfetto_sequence *s, const struct item *item)
{
	struct perfetto_end end = {
		.end_ns = add_saturated(item->start_ns, item->duration_ns),
		.order = s->n_spans++,
		.is_unfinished = item->is_unfinished,
	};
	int64_t row =
		perfetto_rows_place(&s->rows, s->w, s->track, item->start_ns, item->duration_ns);

	if (row < 0)
		return (int)row;
	end.row = (uint32_t)row;
	s->rows.v[row].depth++;
	s->rows.v[row].n_finished += !item->is_unfinished;
	if (perfetto_ends_add(&s->ends, &end))
		return perfetto_fail_memory(s->w);
	return put_event(s, item, TYPE_BEGIN, end.row);
}

/* --- samples of counters ------------------------------------------------------------------- */

/*
 * Returns the id of the counter's track, which is described before its first sample, or a negative
 * errno.
 */
static int64_t take_counter_track(struct perfetto_sequence *s, const struct item *item)
{
	int64_t uuid = (int64_t)perfetto_interned_find(&s->counters, item->name);

	if (uuid)
		return uuid;
	uuid = perfetto_put_counter(s->w, s->track, names_get(&s->w->view->names, item->name));
	if (uuid > 0)
		perfetto_interned_set(&s->counters, item->name, (uint64_t)uuid);
	return uuid;
}

static uint8_t *put_counter_value(uint8_t *at, const struct item_arg *value)
{
	double number = 0;

	if (value->type == STAT_INT64 ||
		(value->type == STAT_UINT64 && value->value.u64 <= INT64_MAX))
		return pb_put_uint(at, EVENT_COUNTER_VALUE, value->value.u64);
	item_arg_to_double(value, &number);
	return packet_double(at, EVENT_DOUBLE_COUNTER_VALUE, number);
}

static int put_sample(struct perfetto_sequence *s, const struct item *item)
{
	int64_t counter = take_counter_track(s, item);
	struct item rest = *item;
	uint8_t *packet;
	uint8_t *event;
	uint8_t *at;

	if (counter < 0)
		return (int)counter;
	rest.args++;
	rest.n_args--;
	packet = perfetto_reserve(
		s->w, PERFETTO_FEW_BYTES + perfetto_args_measure(rest.args, rest.n_args));
	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = perfetto_sequence_put_head(s, packet, item->start_ns);
	at = perfetto_sequence_put_interned(s, at, &rest);
	event = packet_open(at, PACKET_TRACK_EVENT);
	at = pb_put_uint(event, EVENT_TYPE, TYPE_COUNTER);
	at = pb_put_uint(at, EVENT_TRACK, (uint64_t)counter);
	at = put_counter_value(at, &item->args[0]);
	at = perfetto_args_put(at, rest.args, rest.n_args, &s->keys);
	return perfetto_put(s->w, packet, packet_close(event, at));
}

/* True if the sample's value is a number, as Perfetto's counters require. */
static bool sample_is_number(const struct item *item)
{
	double number;

	return item->n_args && item_arg_to_double(&item->args[0], &number);
}

/* --- tracks -------------------------------------------------------------------------------- */

static int put_item(void *sequence, const struct item *item)
{
	struct perfetto_sequence *s = sequence;
	int r = s->has_begun ? put_ends(s, item->start_ns) : perfetto_sequence_begin(s);

	if (r)
		return r;
	if (item->kind == ITEM_SAMPLE && !sample_is_number(item)) {
		codec_lose(s->w->result, "counter samples that are no number", 1);
		return 0;
	}
	s->w->result->n_items++;
	switch (item->kind) {
	case ITEM_SPAN:
		return put_span(s, item);
	case ITEM_INSTANT:
		return put_event(s, item, TYPE_INSTANT, 0);
	case ITEM_SAMPLE:
	case ITEM_CPU_SAMPLE: /* no track of view->tracks has one of these two */
	case ITEM_STATE:
		break;
	}
	return put_sample(s, item);
}

static int put_items(struct perfetto_sequence *s)
{
	int r = cursor_read(s->w->view, s->track, put_item, s, s->w->diag);

	return r ? r : put_last_ends(s);
}

static int sequence_begin_track(struct perfetto_sequence *s, size_t track)
{
	const struct view *v = s->w->view;

	s->track = &v->tracks[track];
	s->id = perfetto_sequence(v, s->track);
	s->host = view_get_process(v, s->track)->host;
	s->has_begun = false;
	s->last_ns = 0;
	perfetto_interned_begin(&s->names, s->id);
	perfetto_interned_begin(&s->keys, s->id);
	perfetto_interned_begin(&s->counters, s->id);
	if (perfetto_interned_resize(&s->keys, s->track->plane->stat_names.n_texts))
		return perfetto_fail_memory(s->w);
	return perfetto_rows_begin(&s->rows, s->w, s->track);
}

int perfetto_put_events(struct perfetto *w)
{
	struct perfetto_sequence s = {.w = w};
	int r = 0;

	if (perfetto_interned_resize(&s.names, w->view->names.n_texts) ||
		perfetto_interned_resize(&s.counters, w->view->names.n_texts))
		r = perfetto_fail_memory(w);
	for (size_t i = 0; i < w->view->n_tracks && r == 0; i++) {
		r = sequence_begin_track(&s, i);
		if (r == 0)
			r = put_items(&s);
	}
	free(s.names.v);
	free(s.keys.v);
	free(s.counters.v);
	free(s.ends.heap);
	perfetto_rows_deinit(&s.rows);
	return r;
}
