/* SPDX-License-Identifier: Apache-2.0 */
/* Records that are repeated; see recall.h. */
#include "lib/collect/recall.h"

#include <string.h>

#include "lib/collect/outlet.h"
#include "lib/wire/arena.h"

void recall_forget(struct recall *r)
{
	r->n = 0;
	r->answered = 0;
	memset(r->n_anchors, 0, sizeof r->n_anchors);
}

/* Returns true if both describe the same device or stream. */
static bool describe_the_same(const struct device_entry *a, const struct device_entry *b)
{
	return a->kind == b->kind && a->collector == b->collector && a->device == b->device &&
	       (a->kind == DEVICE_INFO || (a->context == b->context && a->stream == b->stream));
}

static struct recalled *find_anchor_place(struct recall *r, unsigned collector)
{
	unsigned *n = &r->n_anchors[collector];

	if (*n < 2)
		++*n;
	return &r->anchors[collector][*n - 1];
}

/* Returns the place to keep |entry| in; NULL: no room is left. */
static struct recalled *find_place(struct recall *r, const struct device_entry *entry)
{
	if (entry->kind == DEVICE_ANCHOR)
		return find_anchor_place(r, entry->collector);
	for (unsigned i = 0; i < r->n; i++)
		if (describe_the_same(&r->things[i].entry, entry))
			return &r->things[i];
	return r->n < RECALL_MAX ? &r->things[r->n++] : NULL;
}

void recall_note(
	struct recall *r, uint32_t name, const struct device_entry *entry, uint32_t n_bytes)
{
	struct recalled *place;

	if (entry->kind != DEVICE_ANCHOR && entry->kind != DEVICE_INFO &&
		entry->kind != DEVICE_STREAM)
		return;
	place = find_place(r, entry);
	if (place)
		*place = (struct recalled){name, n_bytes, *entry};
}

static int write_recalled(const struct recalled *r, unsigned n, struct outlet *o)
{
	int error = 0;

	for (unsigned i = 0; i < n && !error; i++)
		error = outlet_put(o, r[i].name, &r[i].entry, r[i].n_bytes);
	return error;
}

int recall_write(const struct recall *r, struct outlet *o)
{
	int error = write_recalled(r->things, r->n, o);

	for (unsigned i = 0; i < COLLECTORS_MAX && !error; i++)
		error = write_recalled(r->anchors[i], r->n_anchors[i], o);
	return error;
}

void recall_repeat_if_asked(struct recall *r, struct outlet *o)
{
	uint32_t asked = atomic_load(&o->arena->collect.repeat);

	if (asked == r->answered)
		return;
	r->answered = asked;
	recall_write(r, o);
}
