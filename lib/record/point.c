/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotations without a duration on the slow path (fast_point.c has the fast one): instants,
 * counters, and the marks that the server joins to flows and async spans. The marks are matched
 * when the capture is assembled, so that begin and end may come from different threads.
 */
#define PTAP_IMPL_BUILDING
#include <proftap/proftap.h>

#include "lib/record/args.h"
#include "lib/record/emit.h"
#include "lib/record/site.h"
#include "lib/record/slow_path.h"

_Static_assert((int)PTAP_IMPL_ASYNC_BEGIN == RECORD_ASYNC_BEGIN &&
		       (int)PTAP_IMPL_ASYNC_END == RECORD_ASYNC_END &&
		       (int)PTAP_IMPL_FLOW_OUT == RECORD_FLOW_OUT &&
		       (int)PTAP_IMPL_FLOW_IN == RECORD_FLOW_IN,
	"the header's marks are the wire's");

void point_emit(struct ring *ring, uint32_t word, enum record_kind kind, uint32_t id,
	const struct slot *slots, uint32_t n)
{
	uint32_t depth = ring_get_point_depth(ring);

	ring_emit(ring, word, record_word0(now_ticks(), kind, depth, n), record_word1(0, id), slots,
		n);
}

void point_instant(struct ptap_impl_site *site, uint32_t word)
{
	struct ring *ring = ring_begin_at(&word);

	if (!ring)
		return;
	point_emit(ring, word, RECORD_INSTANT, site_id(site), NULL, 0);
	ring_end();
}

void ptap_impl_instant_dyn(const char *name, uint32_t word)
{
	struct ring *ring = ring_begin_at(&word);
	struct slot slots[RECORD_MAX_EXTRA];

	if (!ring)
		return;
	point_emit(ring, word, RECORD_INSTANT, STRING_ID_DYNAMIC, slots,
		args_write_name(ring, slots, name));
	ring_end();
}

void point_number(struct ptap_impl_site *site, uint32_t word, enum record_kind kind,
	enum slot_type type, uint64_t bits)
{
	struct ring *ring = ring_begin_at(&word);
	struct slot slot = {{slot_word0(0, type, 0), bits}};

	if (!ring)
		return;
	point_emit(ring, word, kind, site_id(site), &slot, 1);
	ring_end();
}

static void emit_number_dyn(
	const char *name, uint32_t word, enum record_kind kind, enum slot_type type, uint64_t bits)
{
	struct ring *ring = ring_begin_at(&word);
	struct slot slots[RECORD_MAX_EXTRA];
	uint32_t n;

	if (!ring)
		return;
	n = args_write_name(ring, slots, name);
	slots[n] = (struct slot){{slot_word0(0, type, 0), bits}};
	point_emit(ring, word, kind, STRING_ID_DYNAMIC, slots, n + 1);
	ring_end();
}

void ptap_impl_counter_dyn(const char *name, uint32_t word, double value)
{
	uint64_t bits;

	__builtin_memcpy(&bits, &value, sizeof bits);
	emit_number_dyn(name, word, RECORD_COUNTER, SLOT_F64, bits);
}

void ptap_impl_mark_dyn(const char *name, uint32_t word, enum ptap_impl_mark_kind kind, uint64_t id)
{
	emit_number_dyn(name, word, (enum record_kind)kind, SLOT_U64, id);
}
