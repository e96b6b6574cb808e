/* SPDX-License-Identifier: Apache-2.0 */
/* Random spans; see span_trees.h. */
#include "tests/unit/span_trees.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "tests/unit/spool_fixture.h"

static uint64_t now; /* ticks */
static bool has_own_lines;

static void put_named(
	struct thread_log *log, enum record_kind kind, uint64_t start, uint64_t end, unsigned depth)
{
	char name[16];

	snprintf(name, sizeof name, "name %u", spooled_pick(30));
	log_put(log, kind, STRING_ID_DYNAMIC, start, end - start, depth,
		slot_count_for_text((uint32_t)strlen(name)));
	log_put_text(log, 0, SLOT_NAME, name);
}

static void put_with_args(
	struct thread_log *log, uint64_t start, uint64_t end, unsigned depth, uint32_t id)
{
	static const char *const texts[] = {
		"short", "a \"quoted\" text that is longer", "group_id"};
	const char *text = texts[spooled_pick(3)];

	log_put(log, RECORD_SPAN, id, start, end - start, depth,
		1 + slot_count_for_text((uint32_t)strlen(text)));
	log_put_slot(
		log, slot_word0(fixture_add_string("size"), SLOT_I64, 0), spooled_pick(100000));
	log_put_text(log, fixture_add_string("what"), SLOT_TEXT, text);
}

static void put_point(struct thread_log *log, enum record_kind kind, unsigned depth)
{
	char name[16];
	uint32_t id;

	/*
	 * Each thread has a counter of its own name: in a shared one, samples of one time would be
	 * in order of arrival.
	 */
	snprintf(name, sizeof name, "point %d", (int)log->tid);
	id = fixture_add_string(name);
	if (kind == RECORD_INSTANT) {
		log_put(log, kind, id, now, 0, depth, 0);
		return;
	}
	log_put(log, kind, id, now, 0, depth, 1);
	log_put_slot(log, slot_word0(0, SLOT_U64, 0), spooled_pick(1000));
}

static void put_leaf(struct thread_log *log, unsigned depth)
{
	static const enum record_kind kinds[] = {RECORD_INSTANT, RECORD_FLOW_OUT, RECORD_FLOW_IN,
		RECORD_COUNTER, RECORD_ASYNC_BEGIN, RECORD_ASYNC_END};

	now += spooled_pick(9);
	put_point(log, kinds[spooled_pick(has_own_lines ? 6 : 3)], depth);
}

/* Puts a span with children and then its end. Most spans have no children. */
static void put_tree(struct thread_log *log, unsigned depth)
{
	uint64_t start = now;
	unsigned n = depth < 6 && spooled_pick(3) == 0 ? spooled_pick(12) : 0;

	now += spooled_pick(2) ? 8 : 0;
	for (unsigned i = 0; i < n; i++)
		spooled_pick(4) ? put_tree(log, depth + 1) : put_leaf(log, depth + 1);
	now += 8 + spooled_pick(20);
	if (spooled_pick(3))
		put_with_args(log, start, now, depth, fixture_add_string("span"));
	else
		put_named(log, RECORD_SPAN, start, now, depth);
	/* The next span may begin when this one ends. */
	now += spooled_pick(2) * spooled_pick(10);
}

void span_trees_fill(struct thread_log *log, uint64_t start, size_t n_slots, bool with_own_lines)
{
	now = start;
	has_own_lines = with_own_lines;
	log_put_open(log, "outer", now);
	now += 40;
	while (log->n_slots < n_slots)
		put_tree(log, 1);
	log_put_open(log, "inner", now - 4);
	ck_assert_uint_lt(now, LOG_STOP_TICKS - LOG_START_TICKS);
}
