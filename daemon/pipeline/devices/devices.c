/* SPDX-License-Identifier: Apache-2.0 */
/* Records of devices; see devices.h and lib/wire/device.h. */
#include "daemon/pipeline/devices/devices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "daemon/pipeline/devices/device_details.h"
#include "daemon/pipeline/devices/device_events.h"
#include "daemon/target/entry.h"

/* A line without events. */
#define LINE_COST 256
/* Of a byte of a collector's own trace: it is decoded once, to see that it is one, and there twice. */
#define XSPACE_COST 8

void devices_init(struct devices *d, struct arena *arena)
{
	memset(d, 0, sizeof *d);
	d->arena = arena;
	device_lines_init(&d->lines);
	keys_init(&d->details, sizeof(struct device_detail));
}

void devices_set_keep(struct devices *d, struct memory_budget *keep)
{
	d->purse = (struct purse){.keep = keep};
}

void devices_deinit(struct devices *d)
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

/* --- what is known ------------------------------------------------------------------------- */

const struct device_known *devices_find_known(
	const struct devices *d, unsigned collector, unsigned device)
{
	for (size_t i = 0; i < d->n_known; i++)
		if (d->known[i].collector == collector && d->known[i].device == device)
			return &d->known[i];
	return NULL;
}

static int take_info(struct devices *d, const struct device_record *r)
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

static int take_stream(struct devices *d, const struct device_record *r)
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

static int take_anchor(struct devices *d, const struct device_record *r)
{
	d->n_invalid += !device_clock_add(&d->clocks[r->v.collector], r->v.start_ns, r->v.end_ns);
	return 0;
}

static int take_loss(struct devices *d, const struct device_record *r)
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

static int take_xspace(struct devices *d, const struct device_record *r)
{
	struct device_xspace *x = &d->xspaces[r->v.collector];
	size_t at = offsetof(struct device_entry, start_ns);
	size_t n = (size_t)r->v.correlation;

	if (r->v.correlation > r->entry->n_slots * SLOT_BYTES - at) {
		d->n_invalid++;
		return 0;
	}
	/* A piece that is missing breaks what follows. */
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

/* --- all kinds ----------------------------------------------------------------------------- */

static int (*const takers[DEVICE_KINDS])(struct devices *, const struct device_record *) = {
	[DEVICE_KERNEL] = device_events_take,
	[DEVICE_COPY] = device_events_take,
	[DEVICE_SET] = device_events_take,
	[DEVICE_SYNC] = device_events_take,
	[DEVICE_OVERHEAD] = device_events_take,
	[DEVICE_MEMORY] = device_events_take,
	[DEVICE_GRAPH] = device_events_take,
	[DEVICE_COUNTER] = device_events_take,
	[DEVICE_INFO] = take_info,
	[DEVICE_STREAM] = take_stream,
	[DEVICE_ANCHOR] = take_anchor,
	[DEVICE_LOSS] = take_loss,
	[DEVICE_XSPACE] = take_xspace,
};

/* 0: it makes no sense. */
static int read_record(struct device_record *r)
{
	size_t n = r->entry->n_slots * SLOT_BYTES;
	unsigned kind = n ? *(const uint8_t *)r->entry->slots : 0;
	/* Of a blob what stands before it. */
	size_t n_needed = kind == DEVICE_XSPACE ? offsetof(struct device_entry, start_ns)
						: device_entry_bytes(kind);

	if (!n_needed || n_needed > n)
		return 0;
	memcpy(&r->v, r->entry->slots, n_needed);
	return r->v.collector < DEVICES_MAX_COLLECTORS && r->v.device <= DEVICES_MAX_ORDINAL;
}

int devices_add(struct devices *d, const struct entry *e)
{
	struct device_record r;

	r.entry = e;
	if (read_record(&r))
		return takers[r.v.kind](d, &r);
	d->n_invalid++;
	return 0;
}

void devices_settle(struct devices *d)
{
	for (unsigned i = 0; i < DEVICES_MAX_COLLECTORS; i++)
		device_clock_settle(&d->clocks[i]);
	launches_settle(&d->launches);
}

void devices_make_room(struct devices *d)
{
	memory_budget_give_back(d->purse.keep, d->n_events * DEVICES_ENCODED_BYTES);
}
