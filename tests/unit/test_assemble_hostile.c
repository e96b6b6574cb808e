/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests records and strings of a program that writes at random: none of them is trusted, and
 * nothing beyond them is read.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "tests/unit/unit.h"
#include "trace/xspace/xspace.h"

static struct thread_log *thread_log;
static uint32_t good_id;

static void setup(void)
{
	log_open();
	thread_log = log_add(1, "t");
	good_id = fixture_add_string("good");
}

static void put_good(void)
{
	log_put(thread_log, RECORD_SPAN, good_id, 3999000, 400, 0, 0);
}

/* Checks that the model is valid for its readers, and that it can be encoded. */
static void expect_sane(void)
{
	_cleanup_(chunks_deinit) struct chunks out = CHUNKS_INIT;

	log_assemble();
	for (size_t i = 0; i < logs.plane->n_lines; i++) {
		const struct line *line = &logs.plane->lines[i];

		for (size_t k = 0; k < line->n_events; k++) {
			const struct trace_event *e = &line->events[k];

			ck_assert_int_ge(e->duration_ns, 0);
			ck_assert_int_ge(e->start_ns, 0);
			if (k)
				ck_assert_int_ge(e->start_ns, line->events[k - 1].start_ns);
			ck_assert_uint_lt(e->name, logs.plane->event_names.n_texts);
		}
	}
	ck_assert_int_eq(xspace_encode(logs.space, &out), 0);
}

/* Checks that the last event is that of put_good(). */
static void expect_good(size_t n_events)
{
	expect_sane();
	ck_assert_uint_eq(logs.plane->lines[0].n_events, n_events);
	ck_assert_str_eq(log_event_name(0, n_events - 1), "good");
}

/* Puts a span with the name |id| after the others. */
static void put_id(uint32_t id)
{
	log_put(thread_log, RECORD_SPAN, id, 80 * thread_log->n_slots, 40, 0, 0);
}

START_TEST(names_bad_ids_as_such)
{
	uint32_t end = atomic_load(&fixture.arena->strings_used) / 8;

	put_id(end);
	put_id(ARENA_STRINGS_BYTES / 8);
	put_id(STRING_ID_LOST - 1);
	put_id(STRING_ID_LOST);
	put_good();
	expect_good(5);
	for (size_t i = 0; i < 3; i++)
		ck_assert_str_eq(log_event_name(0, i), "(unknown name)");
	ck_assert_str_eq(log_event_name(0, 3), "(too many names)");
}
END_TEST

START_TEST(counts_slots_that_hold_no_record)
{
	log_put_slot(thread_log, 0, 0);
	log_put(thread_log, RECORD_KINDS, good_id, 0, 0, 0, 0);
	log_put(thread_log, (enum record_kind)15, good_id, 0, 0, 0, 3);
	for (int i = 0; i < 3; i++)
		log_put_slot(thread_log, UINT64_MAX, UINT64_MAX);
	put_id(0);
	put_good();
	expect_good(1);
	ck_assert_uint_eq(log_plane_stat("ptap_lost_invalid"), 4);
	ck_assert(log_has_warning("4 records were damaged"));
}
END_TEST

/* Puts a text of |n_bytes| at the place |id| of a string table that is full. */
static uint32_t put_string(uint32_t id, uint32_t n_bytes)
{
	atomic_store(&fixture.arena->strings_used, ARENA_STRINGS_BYTES);
	memcpy(arena_strings(fixture.arena) + (size_t)id * 8, &n_bytes, sizeof n_bytes);
	return id;
}

START_TEST(cuts_strings_at_the_end_of_the_table)
{
	put_id(put_string(100, UINT32_MAX));
	put_id(put_string(200, UINT32_MAX - 3));
	put_id(put_string(300, ARENA_STRINGS_BYTES));
	put_id(put_string(ARENA_STRINGS_BYTES / 8 - 1, 5));
	put_id(put_string(ARENA_STRINGS_BYTES / 8 - 2, 8));
	put_good();
	expect_good(6);
	for (size_t i = 0; i < 4; i++)
		ck_assert_str_eq(log_event_name(0, i), "(unknown name)");
}
END_TEST

START_TEST(bounds_a_name_that_fills_the_table)
{
	uint32_t n = ARENA_STRINGS_BYTES / 2;

	memset(arena_strings(fixture.arena) + 8004, 'x', n);
	put_id(put_string(1000, n));
	put_good();
	expect_good(2);
	ck_assert_uint_le(strlen(log_event_name(0, 0)), 1024);
	ck_assert_uint_ge(strlen(log_event_name(0, 0)), 1023);
}
END_TEST

START_TEST(believes_no_count_of_strings)
{
	atomic_store(&fixture.arena->strings_used, UINT32_MAX);
	put_id(ARENA_STRINGS_BYTES / 8);
	put_id(STRING_ID_LOST - 1);
	put_good();
	expect_good(3);
	ck_assert_str_eq(log_event_name(0, 0), "(unknown name)");
}
END_TEST

START_TEST(stops_at_slots_that_are_not_there)
{
	put_good();
	log_put(thread_log, RECORD_SPAN, STRING_ID_DYNAMIC, 0, 40, 0, RECORD_MAX_EXTRA);
	log_put_text(thread_log, 0, SLOT_NAME, "x");
	expect_good(1);
}
END_TEST

START_TEST(cuts_texts_at_the_end_of_their_entry)
{
	const struct trace_stat *stat;

	log_put(thread_log, RECORD_SPAN, STRING_ID_DYNAMIC, 0, 40, 0, 1);
	log_put_slot(thread_log, slot_word0(0, SLOT_NAME, UINT32_MAX), 0x4141414141414141);
	log_put(thread_log, RECORD_SPAN, good_id, 40, 40, 0, 2);
	log_put_slot(thread_log, slot_word0(good_id, SLOT_TEXT, 1000), 0x4242424242424242);
	log_put_slot(thread_log, 0x4242424242424242, 0x4242424242424242);
	log_put(thread_log, RECORD_SPAN, good_id, 80, 40, 0, 0);
	expect_good(3);
	ck_assert_str_eq(log_event_name(0, 0), "AAAAAAAA");
	stat = log_event_stat(0, 1, "good");
	ck_assert_ptr_nonnull(stat);
	ck_assert_str_eq(
		names_get(&logs.plane->stat_names, stat->value.string), "BBBBBBBBBBBBBBBBBBBBBBBB");
}
END_TEST

START_TEST(counts_arguments_of_no_type)
{
	log_put(thread_log, RECORD_SPAN, good_id, 0, 40, 0, 2);
	log_put_slot(thread_log, slot_word0(good_id, SLOT_NONE, 0), 1);
	log_put_slot(thread_log, slot_word0(good_id, SLOT_I64, 0), 1);
	log_put(thread_log, RECORD_SPAN, good_id, 80, 40, 0, 1);
	log_put_slot(thread_log, slot_word0(good_id, SLOT_TYPES, 0), 1);
	expect_good(2);
	ck_assert_uint_eq(log_plane_stat("ptap_lost_invalid"), 2);
	ck_assert_ptr_null(log_event_stat(0, 0, "good"));
}
END_TEST

START_TEST(survives_a_run_time_name_that_is_missing)
{
	put_id(STRING_ID_DYNAMIC);
	/*
	 * This record is in the place of the name's slot; its start looks like the type of a text.
	 */
	log_put(thread_log, RECORD_SPAN, good_id, 1000 + (SLOT_NAME << 24), 40, 0, 0);
	log_put(thread_log, RECORD_SPAN, STRING_ID_DYNAMIC, 40, 40, 0, 1);
	log_put_slot(thread_log, slot_word0(good_id, SLOT_I64, 0), 1);
	log_put(thread_log, RECORD_STEP, good_id, 80, 40, 0, 0);
	log_put(thread_log, RECORD_COUNTER, good_id, 80, 0, 0, 0);
	expect_good(4);
	ck_assert_str_eq(log_event_name(0, 0), "(unknown name)");
	ck_assert_str_eq(log_event_name(0, 1), "(unknown name)");
}
END_TEST

/* The event has a stat for each argument, two for a step, and one because it is unfinished. */
START_TEST(has_room_for_the_stats_of_a_full_frame)
{
	struct open_span *open = log_put_open(thread_log, "full", 400);

	open->kind = RECORD_STEP | RING_OPEN_HAS_FRAME;
	open->n_slots = RECORD_MAX_EXTRA;
	for (unsigned i = 0; i < RECORD_MAX_EXTRA; i++)
		open->slots[i].word[0] = slot_word0(good_id, SLOT_I64, 0);
	expect_sane();
	ck_assert_str_eq(log_event_name(0, 0), "full");
	ck_assert_ptr_nonnull(log_event_stat(0, 0, "unfinished"));
}
END_TEST

START_TEST(bounds_long_durations)
{
	static const uint64_t durations[] = {UINT64_MAX, UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1,
		0 - LOG_START_TICKS, UINT64_MAX - LOG_START_TICKS};

	log_put(thread_log, RECORD_SPAN, good_id, 0, RECORD_DURATION_MASK, 0, 1);
	log_put_slot(thread_log, slot_word0(0, SLOT_DURATION, 0), durations[_i]);
	put_good();
	expect_sane();
	ck_assert_uint_ge(logs.plane->lines[0].n_events, 1);
}
END_TEST

/* A flow or async mark without its number. */
START_TEST(counts_marks_without_a_number)
{
	log_put(thread_log, RECORD_ASYNC_BEGIN, good_id, 0, 0, 0, 0);
	log_put(thread_log, RECORD_ASYNC_END, STRING_ID_DYNAMIC, 0, 0, 0, 1);
	log_put_text(thread_log, 0, SLOT_NAME, "x");
	log_put(thread_log, RECORD_FLOW_OUT, good_id, 40, 0, 0, 0);
	put_good();
	expect_good(2);
	ck_assert_uint_eq(log_plane_stat("ptap_lost_invalid"), 2);
	ck_assert_ptr_null(log_event_stat(0, 0, "_p"));
}
END_TEST

static uint64_t noise(void);

/* With few or very many names and ids, in any order, time and number of lines are bounded. */
START_TEST(bounds_time_and_lines_of_async_marks)
{
	const uint64_t n_ids[] = {1, 100, UINT64_MAX};
	uint32_t names[5000];

	srand((unsigned)_i);
	for (int i = 0; i < 5000; i++) {
		char name[16];

		snprintf(name, sizeof name, "%d", i);
		names[i] = fixture_add_string(name);
	}
	for (int i = 0; i < 20000; i++) {
		log_put(thread_log, RECORD_ASYNC_BEGIN + noise() % 2,
			names[noise() % (_i < 3 ? 3 : 5000)], noise() % 4000000, 0, 0, 1);
		log_put_slot(thread_log, slot_word0(0, SLOT_U64, 0), noise() % n_ids[_i % 3]);
	}
	put_good();
	expect_good(1);
	/* Each name has one line on which spans overlap, its last. */
	ck_assert_uint_le(logs.plane->n_lines, 1 + 4096 + 5000);
	for (size_t i = 1; i < logs.plane->n_lines; i++) {
		const struct line *line = &logs.plane->lines[i];
		bool overlaps = false;

		for (size_t k = 1; k < line->n_events; k++) {
			const struct trace_event *before = log_event(i, k - 1);

			ck_assert_int_ge(log_event(i, k)->start_ns, before->start_ns);
			overlaps |=
				log_event(i, k)->start_ns < before->start_ns + before->duration_ns;
		}
		if (overlaps && i + 1 < logs.plane->n_lines)
			ck_assert_str_ne(line->name, line[1].name);
	}
}
END_TEST

static uint64_t noise(void)
{
	return (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
}

START_TEST(survives_noise)
{
	char *strings = arena_strings(fixture.arena);

	srand((unsigned)_i);
	for (size_t i = 0; i < ARENA_STRINGS_BYTES; i++)
		strings[i] = (char)rand();
	atomic_store(&fixture.arena->strings_used, (uint32_t)noise());
	for (int i = 0; i < 3000; i++) {
		uint64_t word0 = noise();

		/* Half of the records are nearly valid. */
		if (i % 2)
			word0 = record_word0(LOG_START_TICKS + noise() % 100000, 1 + noise() % 9,
				noise() % 128, noise() % 4);
		if (i % 3 == 0)
			word0 = slot_word0((uint32_t)noise() & STRING_ID_MASK, noise() % 9,
				(uint32_t)noise() % 100);
		log_put_slot(thread_log, word0, i % 5 ? noise() : (uint64_t)good_id << 40);
	}
	expect_sane();
	ck_assert_uint_gt(log_plane_stat("ptap_lost_invalid"), 0);
}
END_TEST

static int compare_ids(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left;
	int64_t b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

/* Each thread has a line of its own, and the time for that does not grow with their square. */
START_TEST(keeps_very_many_threads_of_one_tid_apart)
{
	enum {
		N_THREADS = 10000
	};
	_cleanup_free_ int64_t *ids = calloc(N_THREADS, sizeof *ids);

	for (size_t i = 1; i < N_THREADS; i++)
		log_put_span(log_add(i % 2 ? 1 : 1 + (1 << 22), "t"), "a", 0, 4, 0);
	put_good();
	expect_good(1);
	ck_assert_uint_eq(logs.plane->n_lines, N_THREADS);
	for (size_t i = 0; i < N_THREADS; i++)
		ids[i] = logs.plane->lines[i].id;
	qsort(ids, N_THREADS, sizeof *ids, compare_ids);
	for (size_t i = 1; i < N_THREADS; i++)
		ck_assert_int_lt(ids[i - 1], ids[i]);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(names_bad_ids_as_such),
	UNIT_TEST(counts_slots_that_hold_no_record),
	UNIT_TEST(cuts_strings_at_the_end_of_the_table),
	UNIT_TEST(bounds_a_name_that_fills_the_table),
	UNIT_TEST(believes_no_count_of_strings),
	UNIT_TEST(stops_at_slots_that_are_not_there),
	UNIT_TEST(cuts_texts_at_the_end_of_their_entry),
	UNIT_TEST(counts_arguments_of_no_type),
	UNIT_TEST(survives_a_run_time_name_that_is_missing),
	UNIT_TEST(has_room_for_the_stats_of_a_full_frame),
	UNIT_TEST(counts_marks_without_a_number),
	UNIT_TEST(keeps_very_many_threads_of_one_tid_apart),
	UNIT_LOOP(bounds_time_and_lines_of_async_marks, 6),
	UNIT_LOOP(bounds_long_durations, 5),
	UNIT_LOOP(survives_noise, 8),
	{NULL},
};

UNIT_MAIN("assemble_hostile", .set_up = setup, .tear_down = log_close, .tests = tests)
