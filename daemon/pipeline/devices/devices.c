/* SPDX-License-Identifier: Apache-2.0 */
/* Records of devices; see devices.h and lib/wire/device.h. */
#include "daemon/pipeline/devices/devices.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "daemon/kernel/memory_budget.h"
#include "daemon/pipeline/devices/device_details.h"
#include "daemon/pipeline/devices/device_words.h"
#include "daemon/target/entry.h"
#include "daemon/target/string_table.h"
#include "trace/model/space.h"

/* The bytes of an event, here and encoded, of new details with their texts, and of a new line. */
#define EVENT_COST \
	(sizeof(struct device_event) + sizeof(struct trace_event) + DEVICES_ENCODED_BYTES)
#define DETAIL_COST 512
#define LINE_COST 256
/*
 * The bytes that each byte of a collector's own trace costs: the trace is decoded once as a
 * check, and held twice.
 */
#define XSPACE_COST 8

/* --- device metrics --------------------------------------------------------------------------- */

/* The length at which a name is cut here; device_drawing.c cuts it at the same length. */
#define MAX_BYTES 1023
/* The bytes of a name besides its text: places in tables, and a piece of heap. */
#define NAME_COST 64

static void device_metrics_deinit(struct device_metrics *m)
{
	names_deinit(&m->names);
	free(m->number_of);
	memset(m, 0, sizeof *m);
}

static bool make_room_for_id(struct device_metrics *m, uint32_t id)
{
	size_t n = m->n_ids;

	if (grow(&m->number_of, &m->n_ids, (size_t)id + 1))
		return false;
	memset(m->number_of + n, 0, (m->n_ids - n) * sizeof *m->number_of);
	return true;
}

/* Adds a new name. |purse| pays for it, because a program can have very many long texts. */
static int add_metric(struct device_metrics *m, uint32_t id, const char *text, uint32_t n,
	struct purse *purse, uint32_t *number_out)
{
	if (!purse_pay(purse, NAME_COST + n))
		return DEVICE_METRICS_FULL;
	*number_out = make_room_for_id(m, id) ? names_intern(&m->names, text, n) : NAMES_NONE;
	if (*number_out == NAMES_NONE)
		return -ENOMEM;
	m->number_of[id] = *number_out + 1;
	return 0;
}

/* 0 with *number_out, -ENOMEM, or DEVICE_METRICS_FULL: |purse| has no room for a new name. */
static int device_metrics_find(struct device_metrics *m, struct arena *arena, uint32_t id,
	struct purse *purse, uint32_t *number_out)
{
	uint32_t n = 0;
	const char *text;

	if (id < m->n_ids && m->number_of[id]) {
		*number_out = m->number_of[id] - 1;
		return 0;
	}
	text = string_table_find(arena, string_table_count_ids(arena), id, &n);
	if (text)
		return add_metric(m, id, text, n < MAX_BYTES ? n : MAX_BYTES, purse, number_out);
	*number_out = names_intern(&m->names, "", 0);
	return *number_out == NAMES_NONE ? -ENOMEM : 0;
}

/* --- records ---------------------------------------------------------------------------------- */

/* A record that is being read. |v| is set as far as records of its kind reach. */
struct device_record {
	const struct entry *entry;
	struct device_entry v;
};

void devices_init(struct device_records *d, struct arena *arena)
{
	memset(d, 0, sizeof *d);
	d->arena = arena;
	device_lines_init(&d->lines);
	keys_init(&d->details, sizeof(struct device_detail));
}

void devices_set_keep(struct device_records *d, struct memory_budget *keep)
{
	d->purse = (struct purse){.keep = keep};
}

void devices_deinit(struct device_records *d)
{
	device_lines_deinit(&d->lines);
	keys_deinit(&d->details);
	device_metrics_deinit(&d->metrics);
	launches_deinit(&d->launches);
	free(d->known);
	for (unsigned i = 0; i < DEVICES_MAX_COLLECTORS; i++)
		free(d->xspaces[i].data);
	devices_init(d, d->arena);
}

/* --- facts --------------------------------------------------------------------------------- */

const struct device_known *devices_find_known(
	const struct device_records *d, unsigned collector, unsigned device)
{
	for (size_t i = 0; i < d->n_known; i++)
		if (d->known[i].collector == collector && d->known[i].device == device)
			return &d->known[i];
	return NULL;
}

static int take_info(struct device_records *d, const struct device_record *r)
{
	const struct device_known *before = devices_find_known(d, r->v.collector, r->v.device);
	size_t i = before ? (size_t)(before - d->known) : d->n_known;

	if (grow(&d->known, &d->n_known_allocated, i + 1))
		return -ENOMEM;
	d->known[i] = (struct device_known){
		r->v.collector, r->v.device, r->entry->string_id, r->v.of.info};
	if (!before)
		d->n_known++;
	return 0;
}

static int take_stream(struct device_records *d, const struct device_record *r)
{
	struct device_line_key key = {
		.collector = r->v.collector,
		.type = DEVICE_LINE_STREAM,
		.device = r->v.device,
		.context = r->v.context,
		.stream = r->v.stream,
	};
	struct device_line *line;

	if (!purse_pay(&d->purse, LINE_COST)) {
		d->n_crowded++;
		return 0;
	}
	line = device_lines_get(&d->lines, &key);
	if (!line)
		return -ENOMEM;
	line->name = r->entry->string_id == STRING_ID_LOST ? 0 : r->entry->string_id;
	return 0;
}

static int take_anchor(struct device_records *d, const struct device_record *r)
{
	d->n_invalid += !device_clock_add(&d->clocks[r->v.collector], r->v.start_ns, r->v.end_ns);
	return 0;
}

static int take_loss(struct device_records *d, const struct device_record *r)
{
	const struct device_lost *loss = &r->v.of.loss;
	uint64_t *n;

	if (!loss->reason || loss->reason >= DEVICE_LOSSES || loss->kind >= DEVICE_KINDS) {
		d->n_invalid++;
		return 0;
	}
	n = &d->lost[loss->reason][loss->kind];
	if (__builtin_add_overflow(*n, loss->n, n))
		*n = UINT64_MAX;
	return 0;
}

static int take_xspace(struct device_records *d, const struct device_record *r)
{
	struct device_xspace *x = &d->xspaces[r->v.collector];
	size_t at = offsetof(struct device_entry, start_ns);
	size_t n = (size_t)r->v.correlation;

	if (r->v.correlation > r->entry->n_slots * SLOT_BYTES - at) {
		d->n_invalid++;
		return 0;
	}
	/* If one piece is missing, the rest is useless. */
	if (x->is_broken || !purse_pay(&d->purse, XSPACE_COST * n)) {
		x->is_broken = true;
		d->n_crowded++;
		return 0;
	}
	if (grow(&x->data, &x->n_allocated, x->n + n))
		return -ENOMEM;
	memcpy(x->data + x->n, (const uint8_t *)r->entry->slots + at, n);
	x->n += n;
	return 0;
}

/* --- events ------------------------------------------------------------------------------- */

static struct device_line *get_paid_line(
	struct device_records *d, const struct device_line_key *key)
{
	size_t n = d->lines.n;
	struct device_line *line = device_lines_get(&d->lines, key);

	if (d->lines.n > n)
		purse_pay(&d->purse, LINE_COST);
	return line;
}

static int add_event(struct device_records *d, const struct device_record *r,
	const struct device_line_key *key, const struct device_detail *detail, uint64_t value)
{
	struct device_event event = {
		.start_ns = r->v.start_ns, .end_ns = r->v.end_ns, .value = value};
	struct device_line *line;
	uint32_t n = d->details.n;
	enum device_word word;

	if (r->v.end_ns < r->v.start_ns) {
		d->n_invalid++;
		return 0;
	}
	if (!purse_pay(&d->purse, EVENT_COST)) {
		d->n_crowded++;
		return 0;
	}
	line = get_paid_line(d, key);
	event.detail = keys_intern(&d->details, detail);
	if (!line || event.detail == KEYS_NONE)
		return -ENOMEM;
	if (d->details.n > n)
		purse_pay(&d->purse, DETAIL_COST);
	d->n_events++;
	word = device_word_find(detail);
	if (word != N_DEVICE_WORDS)
		line->kinds |= 1u << word;
	return device_line_add(line, &event);
}

static struct device_detail begin_detail(const struct device_record *r)
{
	return (struct device_detail){
		.kind = r->v.kind,
		.collector = r->v.collector,
		.device = r->v.device,
		.context = r->v.context,
		.name = r->entry->string_id,
	};
}

static int add_to_stream(
	struct device_records *d, const struct device_record *r, const struct device_detail *detail)
{
	struct device_line_key key = {
		.collector = r->v.collector,
		.type = DEVICE_LINE_STREAM,
		.device = r->v.device,
		.context = r->v.context,
		.stream = r->v.stream,
	};

	return add_event(d, r, &key, detail, r->v.correlation);
}

/* Adds an event to the device's one line of |type|. */
static int add_beside(struct device_records *d, const struct device_record *r,
	enum device_line_type type, const struct device_detail *detail, uint64_t value)
{
	struct device_line_key key = {
		.collector = r->v.collector,
		.type = (uint8_t)type,
		.device = r->v.device,
	};

	return add_event(d, r, &key, detail, value);
}

static int take_kernel(struct device_records *d, const struct device_record *r)
{
	struct device_detail detail = begin_detail(r);

	detail.of.kernel = r->v.of.kernel;
	return add_to_stream(d, r, &detail);
}

static int take_copy(struct device_records *d, const struct device_record *r)
{
	struct device_detail detail = begin_detail(r);

	detail.of.copy = r->v.of.copy;
	detail.of.copy.reserved = 0;
	return add_to_stream(d, r, &detail);
}

static int take_set(struct device_records *d, const struct device_record *r)
{
	struct device_detail detail = begin_detail(r);

	detail.of.set = r->v.of.set;
	memset(detail.of.set.reserved, 0, sizeof detail.of.set.reserved);
	return add_to_stream(d, r, &detail);
}

static int take_graph(struct device_records *d, const struct device_record *r)
{
	struct device_detail detail = begin_detail(r);

	detail.of.graph.graph = r->v.of.graph.graph;
	return add_to_stream(d, r, &detail);
}

static int take_sync(struct device_records *d, const struct device_record *r)
{
	struct device_detail detail = begin_detail(r);

	detail.of.sync.waited = r->v.of.sync;
	detail.of.sync.stream = r->v.stream;
	return add_beside(d, r, DEVICE_LINE_SYNC, &detail, r->v.correlation);
}

static int take_overhead(struct device_records *d, const struct device_record *r)
{
	struct device_detail detail = begin_detail(r);

	return add_beside(d, r, DEVICE_LINE_OVERHEAD, &detail, r->v.correlation);
}

static int take_memory(struct device_records *d, const struct device_record *r)
{
	struct device_detail detail = begin_detail(r);

	detail.of.memory = r->v.of.memory;
	memset(detail.of.memory.reserved, 0, sizeof detail.of.memory.reserved);
	return add_beside(d, r, DEVICE_LINE_MEMORY, &detail, r->v.correlation);
}

static int take_counter(struct device_records *d, const struct device_record *r)
{
	struct device_detail detail = begin_detail(r);
	struct device_line_key key = {
		.collector = r->v.collector,
		.type = DEVICE_LINE_COUNTER,
		.device = r->v.device,
	};
	uint64_t value;
	uint32_t number;
	int found =
		device_metrics_find(&d->metrics, d->arena, r->entry->string_id, &d->purse, &number);

	if (found) {
		d->n_crowded += found == DEVICE_METRICS_FULL;
		return found == DEVICE_METRICS_FULL ? 0 : found;
	}
	key.stream = number;
	detail.context = 0;
	memcpy(&value, &r->v.of.counter, sizeof value);
	return add_event(d, r, &key, &detail, value);
}

/* Takes a record of one of the kinds from DEVICE_KERNEL to DEVICE_COUNTER. 0 or -ENOMEM. */
static int take_event(struct device_records *d, const struct device_record *r)
{
	static int (*const event_takers[])(
		struct device_records *, const struct device_record *) = {
		[DEVICE_KERNEL] = take_kernel,
		[DEVICE_COPY] = take_copy,
		[DEVICE_SET] = take_set,
		[DEVICE_SYNC] = take_sync,
		[DEVICE_OVERHEAD] = take_overhead,
		[DEVICE_MEMORY] = take_memory,
		[DEVICE_GRAPH] = take_graph,
		[DEVICE_COUNTER] = take_counter,
	};

	return event_takers[r->v.kind](d, r);
}

/* --- all kinds ----------------------------------------------------------------------------- */

static int (*const takers[DEVICE_KINDS])(struct device_records *, const struct device_record *) = {
	[DEVICE_KERNEL] = take_event,
	[DEVICE_COPY] = take_event,
	[DEVICE_SET] = take_event,
	[DEVICE_SYNC] = take_event,
	[DEVICE_OVERHEAD] = take_event,
	[DEVICE_MEMORY] = take_event,
	[DEVICE_GRAPH] = take_event,
	[DEVICE_COUNTER] = take_event,
	[DEVICE_INFO] = take_info,
	[DEVICE_STREAM] = take_stream,
	[DEVICE_ANCHOR] = take_anchor,
	[DEVICE_LOSS] = take_loss,
	[DEVICE_XSPACE] = take_xspace,
};

/* Reads the record into r->v. False when it makes no sense. */
static bool read_record(struct device_record *r)
{
	size_t n = r->entry->n_slots * SLOT_BYTES;
	unsigned kind = n ? *(const uint8_t *)r->entry->slots : 0;
	/* take_xspace() reads the bytes that follow the header of a DEVICE_XSPACE. */
	size_t n_needed = kind == DEVICE_XSPACE ? offsetof(struct device_entry, start_ns)
						: device_entry_bytes(kind);

	if (!n_needed || n_needed > n)
		return false;
	memcpy(&r->v, r->entry->slots, n_needed);
	return r->v.collector < DEVICES_MAX_COLLECTORS && r->v.device <= DEVICES_MAX_ORDINAL;
}

int devices_add(struct device_records *d, const struct entry *e)
{
	struct device_record r;

	r.entry = e;
	if (read_record(&r))
		return takers[r.v.kind](d, &r);
	d->n_invalid++;
	return 0;
}

void devices_settle(struct device_records *d)
{
	for (unsigned i = 0; i < DEVICES_MAX_COLLECTORS; i++)
		device_clock_settle(&d->clocks[i]);
	launches_settle(&d->launches);
}

void devices_make_room(struct device_records *d)
{
	memory_budget_give_back(d->purse.keep, d->n_events * DEVICES_ENCODED_BYTES);
}
