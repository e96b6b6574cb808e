/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a ring; see picture_fixture.h. */
#include "tests/unit/picture_fixture.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/pipeline/drain/ring_picture.h"
#include "tests/unit/entry_fixture.h"
#include "tests/unit/guest_fixture.h"

void pictured_take(struct pictured *p, uint32_t i, uint32_t word)
{
	pictured_take_share(p, i, word, 0);
}

void pictured_take_share(struct pictured *p, uint32_t i, uint32_t word, uint64_t share_slots)
{
	struct drain_budget budget = {.max_bytes = 1u << 30, .share_slots = share_slots};

	memset(p, 0, sizeof *p);
	p->result = ring_picture_take(&fixture.target, i, word, &budget, &p->log);
	p->n_kept =
		entry_count(p->log.slots, p->log.n_slots, p->log.n_overwritten + p->log.n_left_out);
}

void pictured_free(struct pictured *p)
{
	free(p->log.slots);
	free(p->log.open);
}

void pictured_check(uint32_t i, uint32_t word, uint64_t n)
{
	struct pictured p;

	pictured_take(&p, i, word);
	ck_assert_int_eq(p.result, 0);
	ck_assert_int_ge(p.n_kept, 0);
	ck_assert_uint_eq(p.log.ordinal, n);
	ck_assert_uint_eq(p.log.n_overwritten + (uint64_t)p.n_kept, n);
	/*
	 * Before the writer reaches a segment, it gives that segment up, together with an entry
	 * that continues into the next segment.
	 */
	if (p.log.n_overwritten)
		ck_assert_uint_gt(p.log.n_slots + RECORD_MAX_EXTRA,
			fixture.target.n_slots / RING_SEGMENTS * (RING_SEGMENTS - 1));
	pictured_free(&p);
}
