/* SPDX-License-Identifier: Apache-2.0 */
/* Stats; see stats.h. */
#include "daemon/pipeline/assembly/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/pipeline/assembly/asyncs.h"
#include "daemon/pipeline/assembly/texts.h"
#include "daemon/pipeline/devices/launches.h"
#include "daemon/target/entry.h"
#include "trace/model/space.h"

/* The most stats besides the arguments: four of a launch, and "unfinished". */
#define MAX_KNOWN 5

static const char *const texts_of_keys[N_STAT_KEYS] = {
	[STAT_KEY_ROOT] = "_r",
	[STAT_KEY_STEP_NUM] = "step_num",
	[STAT_KEY_UNFINISHED] = "unfinished",
	[STAT_KEY_VALUE] = "value",
	[STAT_KEY_ID] = "id",
	[STAT_KEY_ASYNC] = "_a",
	[STAT_KEY_STARTED_BEFORE] = "started_before",
	[STAT_KEY_PRODUCER_TYPE] = "_pt",
	[STAT_KEY_PRODUCER] = "_p",
	[STAT_KEY_CONSUMER_TYPE] = "_ct",
	[STAT_KEY_CONSUMER] = "_c",
	[STAT_KEY_CORRELATION] = "correlation_id",
	[STAT_KEY_DEVICE] = "device_id",
	[STAT_KEY_CONTEXT] = "context_id",
	[STAT_KEY_GRAPH] = "cuda_graph_orig_id",
};

void stats_init(struct stats *s, struct plane *plane, struct texts *texts)
{
	memset(s, 0, sizeof *s);
	s->plane = plane;
	s->texts = texts;
}

static uint32_t key_name(struct stats *s, enum stat_key key)
{
	const char *text = texts_of_keys[key];

	if (!s->names[key]) {
		uint32_t index = names_intern(&s->plane->stat_names, text, strlen(text));

		if (index == NAMES_NONE) {
			s->error = -ENOMEM;
			return 0;
		}
		s->names[key] = index + 1;
	}
	return s->names[key] - 1;
}

/* --- one stat ------------------------------------------------------------------------------ */

static void set_text(struct stats *s, struct trace_stat *stat, const char *text, uint32_t n_bytes)
{
	if (!s->keeps_texts) {
		if (texts_set_value(s->texts, stat, text, n_bytes))
			s->error = -ENOMEM;
		return;
	}
	stat->type = STAT_STRING;
	stat->value.string = texts_intern(s->texts, &s->plane->stat_names, text, n_bytes);
	if (stat->value.string == NAMES_NONE)
		s->error = -ENOMEM;
}

static void stat_from_slot(
	struct stats *s, const struct slot *slot, uint32_t n_left, struct trace_stat *stat)
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
		set_text(s, stat, hex, n);
		break;
	}
	default:
		text = slot_text(slot, n_left, &n);
		set_text(s, stat, text, n);
		break;
	}
}

static struct trace_stat int_stat(struct stats *s, enum stat_key key, int64_t value)
{
	return (struct trace_stat){
		.name = key_name(s, key), .type = STAT_INT64, .value.i64 = value};
}

static struct trace_stat uint_stat(struct stats *s, enum stat_key key, uint64_t value)
{
	return (struct trace_stat){
		.name = key_name(s, key), .type = STAT_UINT64, .value.u64 = value};
}

/* --- one event ----------------------------------------------------------------------------- */

static uint32_t add_args(
	struct stats *s, const struct entry *e, struct trace_stat *stats, uint32_t n)
{
	uint32_t at = 0;

	while (at < e->n_slots) {
		const struct slot *slot = &e->slots[at];
		unsigned type = slot_type(slot->word[0]);
		uint32_t span = slot_span(slot, e->n_slots - at);
		uint32_t key = (uint32_t)slot->word[0] & STRING_ID_MASK;

		if (!span) {
			s->n_invalid++;
			break;
		}
		if (type != SLOT_NAME && type != SLOT_DURATION && key) {
			stats[n].name = texts_get_stat_name(s->texts, key);
			if (stats[n].name == NAMES_NONE)
				s->error = -ENOMEM;
			stat_from_slot(s, slot, e->n_slots - at, &stats[n]);
			n++;
		}
		at += span;
	}
	return n;
}

/*
 * The id of a flow. It must differ for flows of different names, because XProf reads only this
 * number, not the name.
 */
static int64_t flow_key(const struct stats *s, uint32_t name, uint64_t id)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (const char *c = names_get(&s->plane->event_names, name); *c; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	return (int64_t)(hash ^ id);
}

/* Context type 0 is "generic". */
static uint32_t set_flow(struct stats *s, enum stat_key type, enum stat_key key, uint32_t name,
	uint64_t id, struct trace_stat *stats)
{
	stats[0] = uint_stat(s, STAT_KEY_ID, id);
	stats[1] = int_stat(s, type, 0);
	stats[2] = int_stat(s, key, flow_key(s, name, id));
	return 3;
}

/* Sets the context, whose text is usually that of the last call. */
static void set_context(struct stats *s, uint32_t context, struct trace_stat *stat)
{
	uint64_t n_left_out = s->texts->n_left_out;
	char text[16];

	stat->name = key_name(s, STAT_KEY_CONTEXT);
	if (s->context_name && s->context == context) {
		stat->type = STAT_STRING;
		stat->value.string = s->context_name - 1;
		return;
	}
	s->keeps_texts = true;
	set_text(s, stat, text, (uint32_t)snprintf(text, sizeof text, "$$%u", context));
	s->keeps_texts = false;
	s->context = context;
	s->context_name = s->texts->n_left_out == n_left_out ? stat->value.string + 1 : 0;
}

/* Sets the stats of a call of a device's library. Viewers read the values' unsigned members. */
static uint32_t set_launch(struct stats *s, const struct entry *e, struct trace_stat *stats)
{
	struct launch_record launch;
	uint32_t n = 0;

	if (!launch_read(e, &launch))
		return 0;
	if (launch.correlation)
		stats[n++] = uint_stat(
			s, STAT_KEY_CORRELATION, launch_make_id(s->pid, launch.correlation));
	stats[n++] = uint_stat(s, STAT_KEY_DEVICE, launch.device);
	set_context(s, launch.context, &stats[n++]);
	if (launch.is_graph)
		stats[n++] = uint_stat(s, STAT_KEY_GRAPH, launch.graph);
	return n;
}

/* Sets the stats for the number of the entry, which depend on the entry's kind. */
static uint32_t set_number(
	struct stats *s, const struct entry *e, uint32_t name, struct trace_stat *stats)
{
	const struct slot *slot = entry_number(e);

	if (!slot)
		return 0;
	switch (e->kind) {
	case RECORD_STEP:
		stats[0] = int_stat(s, STAT_KEY_ROOT, 1);
		stats[1] = int_stat(s, STAT_KEY_STEP_NUM, (int64_t)slot->word[1]);
		return 2;
	case RECORD_COUNTER:
		stats[0].name = key_name(s, STAT_KEY_VALUE);
		stat_from_slot(s, slot, e->n_slots - (uint32_t)(slot - e->slots), &stats[0]);
		return 1;
	case RECORD_FLOW_OUT:
		return set_flow(
			s, STAT_KEY_PRODUCER_TYPE, STAT_KEY_PRODUCER, name, slot->word[1], stats);
	case RECORD_FLOW_IN:
		return set_flow(
			s, STAT_KEY_CONSUMER_TYPE, STAT_KEY_CONSUMER, name, slot->word[1], stats);
	case RECORD_LAUNCH:
		return set_launch(s, e, stats);
	default:
		return 0;
	}
}

static uint32_t add_to_plane(struct stats *s, const struct trace_stat *stats, uint32_t n)
{
	uint32_t first = n ? plane_add_stats(s->plane, stats, n) : 0;

	if (n && !first)
		s->error = -ENOMEM;
	return first;
}

uint32_t stats_add(struct stats *s, const struct entry *e, uint32_t name)
{
	struct trace_stat stats[RECORD_MAX_EXTRA + MAX_KNOWN];
	uint32_t n;

	if (!e->n_slots && !e->is_unfinished)
		return 0;
	memset(stats, 0, sizeof stats);
	n = set_number(s, e, name, stats);
	n = add_args(s, e, stats, n);
	if (e->is_unfinished)
		stats[n++] = int_stat(s, STAT_KEY_UNFINISHED, 1);
	return add_to_plane(s, stats, n);
}

uint32_t stats_get_args(struct stats *s, const struct entry *e, struct trace_stat *args)
{
	uint32_t n;

	memset(args, 0, RECORD_MAX_EXTRA * sizeof *args);
	s->keeps_texts = true;
	n = add_args(s, e, args, 0);
	s->keeps_texts = false;
	return n;
}

uint32_t stats_add_async(struct stats *s, const struct async_span *span)
{
	struct trace_stat stats[RECORD_MAX_EXTRA + MAX_KNOWN];
	uint32_t n = 0;

	stats[n++] = uint_stat(s, STAT_KEY_ID, span->id);
	/* Marks the span as independent of its thread, as stock servers do. */
	stats[n++] = int_stat(s, STAT_KEY_ASYNC, 1);
	for (const struct trace_stat *arg = span->args; arg && n < RECORD_MAX_EXTRA + MAX_KNOWN - 2;
		arg = stat_next(arg)) {
		stats[n] = *arg;
		stats[n++].is_last = false;
	}
	if (span->is_unfinished)
		stats[n++] = int_stat(s, STAT_KEY_UNFINISHED, 1);
	if (span->is_started_before)
		stats[n++] = int_stat(s, STAT_KEY_STARTED_BEFORE, 1);
	return add_to_plane(s, stats, n);
}
