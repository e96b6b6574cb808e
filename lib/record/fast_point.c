/* SPDX-License-Identifier: Apache-2.0 */
/* Annotations without a duration on the fast path (fast_path.h); point.c has the slow one. */
#define PTAP_IMPL_BUILDING
#include <proftap/proftap.h>

#include "lib/record/fast_path.h"
#include "lib/record/slow_path.h"

/*
 * Writes a point, with |number| unless that is NULL, into the ring with the guard taken. False: the
 * ring is at its limit, or the depth is too large for a record; the guard is still taken.
 */
static hot bool put_point(struct thread *self, uint32_t id, uint32_t word, enum record_kind kind,
	const struct slot *number)
{
	struct ring *ring = self->ring;
	uint32_t n_extra = number ? 1 : 0;
	uint64_t head = ring_get_head(ring);
	uint32_t depth = ring_get_depth(ring);
	uint64_t now = ticks_read();
	struct slot *slot;

	if (!ring_has_room(ring, head, 1 + n_extra) || unlikely(depth >= RECORD_MAX_DEPTH))
		return false;
	slot = fast_slot(ring, head);
	slot[0] = (struct slot){{record_word0(now, kind, depth, n_extra), record_word1(0, id)}};
	if (number) {
		slot[1] = *number;
		fast_fetch_ahead(slot);
	}
	if (unlikely(!ring_publish(ring, word, head, n_extra)))
		ring_end();
	else
		thread_give_back(self, word);
	return true;
}

/*
 * Whether a point of |n| slots has room on the slow path; if not, it is counted as lost. Frees the
 * guard that was taken with |word|.
 */
static inline bool find_room(uint32_t word, uint32_t n)
{
	bool has_room = ring_find_room(thread_self.ring, n);

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
