/* SPDX-License-Identifier: Apache-2.0 */
/* Records of one slot; see plain.h and lib/wire/record.h. */
#include "daemon/pipeline/assembly/plain.h"

#include <stdbool.h>

#include "base/prefetch.h"
#include "daemon/pipeline/assembly/assembly.h"
#include "daemon/target/timeline.h"
#include "lib/wire/record.h"
#include "trace/model/space.h"

/* Slots that are taken together. Then the caller checks whether the trace is still wanted. */
#define BATCH_SLOTS 4096u

/* Values that are looked up once for many records. */
struct plain {
	struct timeline *timeline;
	const uint32_t *name_of; /* string id -> index + 1, or 0 */
	uint32_t n_ids;
	struct era era;
	uint64_t start_ticks;
	int64_t end_ns;
};

static inline bool is_plain(const struct slot *slot)
{
	unsigned kind = record_kind(slot->word[0]);

	return (kind == RECORD_SPAN || kind == RECORD_INSTANT) &&
	       record_n_extra(slot->word[0]) == 0;
}

/* The index of the name + 1; 0: the name is not known yet, or is not in this table. */
static inline uint32_t find_name(const struct plain *p, const struct slot *slot)
{
	uint32_t id = (uint32_t)(slot->word[1] >> RECORD_DURATION_BITS);

	return id < p->n_ids ? p->name_of[id] : 0;
}

static inline void set_times(
	const struct plain *p, struct trace_event *event, uint64_t start, uint64_t duration)
{
	event->start_ns = timeline_convert(p->timeline, start);
	event->duration_ns = timeline_convert(p->timeline, start + duration) - event->start_ns;
}

/* Ends a span for which calls of a device's library may wait. */
static void end_span_of_calls(
	struct assembly *as, const struct slot *slot, uint64_t start, uint32_t name)
{
	unsigned depth = record_depth(slot->word[0]);

	if (record_kind(slot->word[0]) == RECORD_SPAN &&
		launch_stack_wants(as->calls, start, depth))
		launches_end_span(&as->devices.launches, as->calls, start, depth, name);
}

/*
 * Appends to |events|, which has room for |n|. |waiting| is an assembly with calls that wait for
 * spans; NULL: no calls wait. Returns the number of plain slots.
 */
static inline __attribute__((always_inline)) size_t take_plain(const struct plain *p,
	struct events *events, const struct slot *slots, size_t n, struct assembly *waiting)
{
	size_t to = events->n;
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t name = find_name(p, &slots[i]);
		uint64_t duration = slots[i].word[1] & RECORD_DURATION_MASK;
		uint64_t end = era_date(&p->era, slots[i].word[0] + duration);
		uint64_t start = end - duration;

		prefetch_for_read((const uint8_t *)&slots[i] + PREFETCH_AHEAD_BYTES);
		/*
		 * A record that ended outside of the recording makes no sense; assembly.c counts
		 * it.
		 */
		if (!is_plain(&slots[i]) || !name || end > p->era.before_ticks || end < duration)
			break;
		if (start < p->start_ticks)
			continue;
		set_times(p, &events->v[to], start, duration);
		if (events->v[to].start_ns + events->v[to].duration_ns > p->end_ns)
			break;
		events->v[to].name = name - 1;
		events->v[to].stats = 0;
		events->v[to].is_span = record_kind(slots[i].word[0]) == RECORD_SPAN;
		events->depths[to++] = (uint8_t)record_depth(slots[i].word[0]);
		if (waiting)
			end_span_of_calls(waiting, &slots[i], start, name);
	}
	events->n = to;
	return i;
}

/* Not inlined, so that the usual loop can use all registers. */
static __attribute__((noinline)) size_t take_plain_with_calls(
	const struct plain *p, const struct slot *slots, size_t n, struct assembly *as)
{
	return take_plain(p, &as->events, slots, n, as);
}

size_t plain_take(struct assembly *as, const struct slot *slots, size_t n_slots)
{
	size_t n = n_slots < BATCH_SLOTS ? n_slots : BATCH_SLOTS;
	struct plain p = {
		.timeline = as->timeline,
		.name_of = as->texts.event_name_of,
		.n_ids = as->texts.n_ids,
		.era = *as->era,
		.start_ticks = as->start_ticks,
		.end_ns = as->end_ns,
	};

	if (!n || !is_plain(slots))
		return 0;
	as->error = events_reserve(&as->events, n);
	if (as->error)
		return 0;
	/* Nearly always no call waits, and then the loop does not test for it. */
	return as->calls->n ? take_plain_with_calls(&p, slots, n, as)
			    : take_plain(&p, &as->events, slots, n, NULL);
}
