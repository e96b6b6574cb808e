/* SPDX-License-Identifier: Apache-2.0 */
/* Extents of devices' records; see device_extent.h. */
#include "daemon/pipeline/devices/device_extent.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "lib/wire/record.h"

void device_extents_deinit(struct device_extents *x)
{
	free(x->v);
	memset(x, 0, sizeof *x);
}

/* The extent of |process|; NULL when memory ran out. */
static struct device_extent *get_extent(struct device_extents *x, size_t process)
{
	struct device_extent *e;

	for (size_t i = 0; i < x->n; i++)
		if (x->v[i].process == process)
			return &x->v[i];
	if (grow(&x->v, &x->n_allocated, x->n + 1))
		return NULL;
	e = &x->v[x->n++];
	memset(e, 0, sizeof *e);
	e->process = process;
	for (unsigned i = 0; i < DEVICES_MAX_COLLECTORS; i++)
		e->first_ns[i] = UINT64_MAX;
	return e;
}

/* True when the record is an event whose times make sense. */
static bool has_time(const struct device_entry *v)
{
	return v->kind && v->kind < DEVICE_INFO && v->start_ns && v->end_ns >= v->start_ns;
}

/* Adds an entry of |n| slots. */
static void take_slots(struct device_extent *e, const struct slot *slots, uint32_t n)
{
	struct device_entry v = {.kind = 0};

	if (n * SLOT_BYTES < DEVICE_HEAD_BYTES)
		return;
	memcpy(&v, slots, DEVICE_HEAD_BYTES);
	if (v.collector >= DEVICES_MAX_COLLECTORS)
		return;
	if (v.kind == DEVICE_ANCHOR)
		device_clock_add(&e->clocks[v.collector], v.start_ns, v.end_ns);
	else if (has_time(&v) && v.start_ns < e->first_ns[v.collector])
		e->first_ns[v.collector] = v.start_ns;
}

int device_extents_add(
	struct device_extents *x, size_t process, const struct slot *slots, size_t n_slots)
{
	struct device_extent *e;
	uint32_t n;

	if (!n_slots || record_kind(slots[0].word[0]) != RECORD_DEVICE)
		return 0;
	e = get_extent(x, process);
	if (!e)
		return -ENOMEM;
	for (size_t at = 0; at < n_slots; at += 1 + n) {
		n = record_n_extra(slots[at].word[0]);
		if (record_kind(slots[at].word[0]) == RECORD_DEVICE && n < n_slots - at)
			take_slots(e, &slots[at + 1], n);
	}
	return 0;
}

static void join_extent(struct device_extent *e, const struct device_extent *other)
{
	for (unsigned i = 0; i < DEVICES_MAX_COLLECTORS; i++) {
		const struct device_clock *c = &other->clocks[i];

		if (other->first_ns[i] < e->first_ns[i])
			e->first_ns[i] = other->first_ns[i];
		if (!c->is_known)
			continue;
		device_clock_add(&e->clocks[i], c->first.at_ns, (uint64_t)c->first.monotonic_ns);
		device_clock_add(&e->clocks[i], c->last.at_ns, (uint64_t)c->last.monotonic_ns);
	}
}

int device_extents_join(struct device_extents *x, const struct device_extents *other)
{
	for (size_t i = 0; i < other->n; i++) {
		struct device_extent *e = get_extent(x, other->v[i].process);

		if (!e)
			return -ENOMEM;
		join_extent(e, &other->v[i]);
	}
	return 0;
}

int64_t device_extent_find_first(const struct device_extent *e)
{
	int64_t first_ns = INT64_MAX;

	for (unsigned i = 0; i < DEVICES_MAX_COLLECTORS; i++) {
		struct device_clock clock = e->clocks[i];
		int64_t at_ns;

		if (e->first_ns[i] == UINT64_MAX)
			continue;
		device_clock_settle(&clock);
		if (device_clock_convert(&clock, e->first_ns[i], &at_ns) && at_ns < first_ns)
			first_ns = at_ns;
	}
	return first_ns;
}
