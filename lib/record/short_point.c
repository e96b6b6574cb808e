/* SPDX-License-Identifier: Apache-2.0 */
/* Annotations without a duration, the short way: short_way.h. The long one: point.c. */
#define PTAP_IMPL_BUILDING
#include <proftap/proftap.h>

#include "lib/record/long_way.h"
#include "lib/record/short_way.h"

/*
 * A point with |number|, unless that is NULL, whose ring was taken. False: it is at its limit, or deeper than a record says,
 * and still taken.
 */
static hot int put_point(struct thread *self, uint32_t id, uint32_t word, enum record_kind kind,
	const struct slot *number)
{
	struct ring *ring = self->ring;
	uint32_t n_extra = number ? 1 : 0;
	uint64_t head = ring_get_head(ring);
	uint32_t depth = ring_get_depth(ring);
	uint64_t now = ticks_read();
	struct slot *slot;

	if (!ring_has_room(ring, head, 1 + n_extra) || unlikely(depth >= RECORD_MAX_DEPTH))
		return 0;
	slot = short_slot(ring, head);
	slot[0] = (struct slot){{record_word0(now, kind, depth, n_extra), record_word1(0, id)}};
	if (number) {
		slot[1] = *number;
		short_fetch_ahead(slot);
	}
	if (unlikely(!ring_publish(ring, word, head, n_extra)))
		ring_end();
	else
		thread_give_back(self, word);
	return 1;
}

/* Whether a point of |n| slots finds room on the long way; else it is counted. Gives back what was taken with |word|. */
static inline int find_room(uint32_t word, uint32_t n)
{
	int has_room = ring_find_room(thread_self.ring, n);

	thread_give_back(&thread_self, word);
	return has_room;
}

static __attribute__((noinline)) void instant_at_limit(struct ptap_impl_site *site, uint32_t word)
{
	if (find_room(word, 1))
		point_instant(site, word);
}

static __attribute__((noinline)) void number_at_limit(struct ptap_impl_site *site, uint32_t word,
	enum record_kind kind, enum slot_type type, uint64_t bits)
{
	if (find_room(word, 2))
		point_number(site, word, kind, type, bits);
}

void ptap_impl_instant(struct ptap_impl_site *site, uint32_t word)
{
	struct thread *self = &thread_self;
	uint32_t id = known_id(&site->id);

	if (unlikely(!id) || !thread_take(self, word)) {
		point_instant(site, word);
		return;
	}
	if (!put_point(self, id, word, RECORD_INSTANT, NULL))
		instant_at_limit(site, word);
}

static hot void put_number(struct ptap_impl_site *site, uint32_t word, enum record_kind kind,
	enum slot_type type, uint64_t bits)
{
	struct thread *self = &thread_self;
	uint32_t id = known_id(&site->id);
	struct slot number = {{slot_word0(0, type, 0), bits}};

	if (unlikely(!id) || !thread_take(self, word)) {
		point_number(site, word, kind, type, bits);
		return;
	}
	if (!put_point(self, id, word, kind, &number))
		number_at_limit(site, word, kind, type, bits);
}

void ptap_impl_counter_i(struct ptap_impl_site *site, uint32_t word, int64_t value)
{
	put_number(site, word, RECORD_COUNTER, SLOT_I64, (uint64_t)value);
}

void ptap_impl_counter_f(struct ptap_impl_site *site, uint32_t word, double value)
{
	uint64_t bits;

	__builtin_memcpy(&bits, &value, sizeof bits);
	put_number(site, word, RECORD_COUNTER, SLOT_F64, bits);
}

void ptap_impl_mark(
	struct ptap_impl_site *site, uint32_t word, enum ptap_impl_mark_kind kind, uint64_t id)
{
	put_number(site, word, (enum record_kind)kind, SLOT_U64, id);
}
