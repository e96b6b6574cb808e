/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests async spans, whose begins and ends may be on different threads: how they are matched, and
 * on which lines they are; and flow marks.
 */
#include "daemon/pipeline/assembly/asyncs.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/pipeline/assembly/async_carry.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "tests/unit/unit.h"

#define CAPTURE_NS 1000000

static struct thread_log *first;
static struct thread_log *second;
static struct async_carry carry;

static void setup(void)
{
	log_open();
	first = log_add(1, "first");
	second = log_add(2, "second");
}

/* Assembles a part of a session that goes on. */
static void assemble_part(uint64_t settled_ns)
{
	logs.carry = &carry;
	logs.settled = settled_ns * LOG_TICKS_PER_NS;
	log_assemble();
}

static void next_part(void)
{
	log_close();
	setup();
}

static void teardown(void)
{
	async_carry_deinit(&carry);
	log_close();
}

/* |at_ns| counts from the capture's start. */
static void put(struct thread_log *log, enum record_kind kind, const char *name, uint64_t id,
	uint64_t at_ns)
{
	log_put(log, kind, fixture_add_string(name), at_ns * LOG_TICKS_PER_NS, 0, 0, 1);
	log_put_slot(log, slot_word0(0, SLOT_U64, 0), id);
}

static void begin(struct thread_log *log, uint64_t id, uint64_t at_ns)
{
	put(log, RECORD_ASYNC_BEGIN, "request", id, at_ns);
}

static void end(struct thread_log *log, uint64_t id, uint64_t at_ns)
{
	put(log, RECORD_ASYNC_END, "request", id, at_ns);
}

static void expect_stat(
	size_t line, size_t i, const char *name, enum stat_type type, uint64_t value)
{
	const struct trace_stat *stat = log_event_stat(line, i, name);

	ck_assert_msg(stat, "no %s", name);
	ck_assert_int_eq(stat->type, type);
	ck_assert_uint_eq(stat->value.u64, value);
}

/* |cut|: "unfinished", "started_before", or "" for a span that is whole. */
static void expect(
	size_t line, size_t i, uint64_t id, int64_t start, int64_t end_ns, const char *cut)
{
	static const char *const cuts[] = {"unfinished", "started_before"};

	ck_assert_str_eq(logs.plane->lines[line].name, log_event_name(line, i));
	ck_assert_int_eq(log_event(line, i)->start_ns, start);
	ck_assert_int_eq(log_event(line, i)->duration_ns, end_ns - start);
	expect_stat(line, i, "id", STAT_UINT64, id);
	expect_stat(line, i, "_a", STAT_INT64, 1);
	for (int k = 0; k < 2; k++) {
		if (strcmp(cuts[k], cut) == 0)
			expect_stat(line, i, cut, STAT_INT64, 1);
		else
			ck_assert_ptr_null(log_event_stat(line, i, cuts[k]));
	}
}

/* Expects these lines, with the number of events on each. */
static void expect_lines(size_t n, const size_t *n_events)
{
	ck_assert_uint_eq(logs.plane->n_lines, n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(logs.plane->lines[i].n_events, n_events[i]);
		for (size_t k = 0; k < i; k++)
			ck_assert_int_ne(logs.plane->lines[i].id, logs.plane->lines[k].id);
	}
}

START_TEST(joins_a_begin_and_an_end_of_another_thread)
{
	/* The thread with the end was read first. */
	end(first, UINT64_MAX, 300);
	begin(second, UINT64_MAX, 100);
	log_assemble();
	expect_lines(1, (const size_t[]){1});
	expect(0, 0, UINT64_MAX, 100, 300, "");
	ck_assert_uint_eq(log_plane_stat("dropped_traces"), 0);
	ck_assert_uint_eq(logs.space->warnings.n_texts, 0);
}
END_TEST

START_TEST(cuts_open_spans_where_the_process_ended)
{
	logs.ended = 700 * LOG_TICKS_PER_NS;
	begin(first, 1, 100);
	begin(second, 2, 710);
	log_assemble();
	expect(0, 0, 1, 100, 700, "unfinished");
	expect(0, 1, 2, 710, 710, "unfinished");
}
END_TEST

START_TEST(keeps_names_and_ids_apart)
{
	begin(first, 1, 10);
	begin(first, 2, 20);
	put(first, RECORD_ASYNC_BEGIN, "other", 1, 30);
	put(second, RECORD_ASYNC_END, "other", 1, 40);
	end(second, 1, 50);
	end(second, 2, 60);
	log_assemble();
	expect_lines(3, (const size_t[]){1, 1, 1});
	expect(0, 0, 1, 10, 50, "");
	expect(1, 0, 2, 20, 60, "");
	ck_assert_str_eq(logs.plane->lines[2].name, "other");
	expect(2, 0, 1, 30, 40, "");
}
END_TEST

START_TEST(puts_spans_that_follow_one_another_on_one_line)
{
	for (uint64_t i = 0; i < 10; i++) {
		begin(first, 7, 100 * i);
		end(first, 7, 100 * i + 100);
	}
	log_assemble();
	expect_lines(1, (const size_t[]){10});
	for (size_t i = 0; i < 10; i++)
		expect(0, i, 7, 100 * (int64_t)i, 100 * (int64_t)i + 100, "");
}
END_TEST

START_TEST(puts_spans_that_overlap_on_lines_of_their_own)
{
	begin(first, 1, 0);
	begin(first, 2, 10);
	end(first, 1, 20);
	begin(first, 3, 30);
	end(first, 2, 40);
	end(first, 3, 50);
	log_assemble();
	expect_lines(2, (const size_t[]){2, 1});
	expect(0, 0, 1, 0, 20, "");
	expect(0, 1, 3, 30, 50, "");
	expect(1, 0, 2, 10, 40, "");
}
END_TEST

START_TEST(cuts_unended_spans_at_the_end)
{
	begin(first, 1, 100);
	begin(first, 1, 200);
	end(first, 1, 300);
	log_assemble();
	expect_lines(2, (const size_t[]){1, 1});
	expect(0, 0, 1, 100, CAPTURE_NS, "unfinished");
	expect(1, 0, 1, 200, 300, "");
	ck_assert_uint_eq(log_plane_stat("dropped_traces"), 0);
}
END_TEST

START_TEST(starts_earlier_spans_at_the_start)
{
	end(first, 1, 100);
	begin(first, 1, 200);
	end(first, 1, 300);
	log_assemble();
	expect_lines(1, (const size_t[]){2});
	expect(0, 0, 1, 0, 100, "started_before");
	expect(0, 1, 1, 200, 300, "");
	ck_assert_uint_eq(logs.space->warnings.n_texts, 0);
}
END_TEST

START_TEST(counts_an_end_too_many)
{
	begin(first, 1, 100);
	end(first, 1, 200);
	end(second, 1, 300);
	log_assemble();
	expect_lines(1, (const size_t[]){1});
	expect(0, 0, 1, 100, 200, "");
	ck_assert_uint_eq(log_plane_stat("ptap_unmatched_async_ends"), 1);
	ck_assert_uint_eq(log_plane_stat("dropped_traces"), 0);
	ck_assert(log_has_warning("1 ends of async spans left out"));
}
END_TEST

START_TEST(leaves_threads_and_counters_as_they_are)
{
	log_put_span(first, "span", 40, 80, 0);
	begin(first, 1, 30);
	log_put(second, RECORD_COUNTER, fixture_add_string("queue"), 40, 0, 0, 1);
	log_put_slot(second, slot_word0(0, SLOT_I64, 0), 5);
	log_assemble();
	expect_lines(3, (const size_t[]){1, 1, 1});
	ck_assert_str_eq(logs.plane->lines[0].name, "first");
	expect(1, 0, 1, 30, CAPTURE_NS, "unfinished");
	ck_assert_str_eq(logs.plane->lines[2].name, LINE_COUNTERS);
}
END_TEST

/*
 * A backlog of 5,000 requests: each is there, with its time, on lines of its own or on the last one
 * of the name.
 */
START_TEST(keeps_thousands_of_overlapping_spans)
{
	int64_t total_ns = 0;
	uint64_t n_events = 0;

	for (uint64_t i = 0; i < 5000; i++)
		begin(first, i, i);
	for (uint64_t i = 0; i < 5000; i++)
		end(first, i, 10000 + 2 * i);
	log_assemble();
	ck_assert_uint_eq(logs.plane->n_lines, 256);
	for (size_t k = 0; k < 256; k++) {
		const struct line *line = &logs.plane->lines[k];

		ck_assert_str_eq(line->name, "request");
		n_events += line->n_events;
		for (size_t i = 0; i < line->n_events; i++) {
			total_ns += line->events[i].duration_ns;
			if (i)
				ck_assert_int_ge(
					line->events[i].start_ns, line->events[i - 1].start_ns);
		}
	}
	ck_assert_uint_eq(n_events, 5000);
	/* 10,000 ns each, and 1 more for each later one. */
	ck_assert_int_eq(total_ns, 5000 * 10000 + 5000 * 4999 / 2);
	ck_assert_uint_eq(log_plane_stat("dropped_traces"), 0);
	ck_assert_uint_eq(logs.space->warnings.n_texts, 0);
}
END_TEST

START_TEST(makes_a_flow_s_ends_known_to_viewers)
{
	const struct trace_stat *out;
	const struct trace_stat *in;

	log_put_span(second, "receive", 900 * LOG_TICKS_PER_NS, 1000 * LOG_TICKS_PER_NS, 0);
	put(first, RECORD_FLOW_OUT, "job", 7, 100);
	put(second, RECORD_FLOW_IN, "job", 7, 1200);
	put(second, RECORD_FLOW_IN, "job", 8, 1300);
	put(second, RECORD_FLOW_IN, "other", 7, 1400);
	log_assemble();
	expect_lines(2, (const size_t[]){1, 4});
	ck_assert_str_eq(log_event_name(0, 0), "job");
	ck_assert_int_eq(log_event(0, 0)->start_ns, 100);
	ck_assert_int_eq(log_event(0, 0)->duration_ns, 0);
	expect_stat(0, 0, "id", STAT_UINT64, 7);
	expect_stat(0, 0, "_pt", STAT_INT64, 0);
	expect_stat(1, 1, "_ct", STAT_INT64, 0);
	ck_assert_ptr_null(log_event_stat(0, 0, "_c"));
	ck_assert_ptr_null(log_event_stat(1, 1, "_p"));
	out = log_event_stat(0, 0, "_p");
	in = log_event_stat(1, 1, "_c");
	ck_assert_int_eq(out->type, STAT_INT64);
	ck_assert_int_eq(in->type, STAT_INT64);
	ck_assert_int_eq(out->value.i64, in->value.i64);
	ck_assert_int_ne(out->value.i64, log_event_stat(1, 2, "_c")->value.i64);
	ck_assert_int_ne(out->value.i64, log_event_stat(1, 3, "_c")->value.i64);
}
END_TEST

START_TEST(finds_the_number_behind_a_run_time_name)
{
	log_put(first, RECORD_ASYNC_BEGIN, STRING_ID_DYNAMIC, 0, 0, 0, 3);
	log_put_text(first, 0, SLOT_NAME, "ten bytes!");
	log_put_slot(first, slot_word0(0, SLOT_U64, 0), 11);
	log_put(first, RECORD_STEP, STRING_ID_DYNAMIC, 0, 40, 0, 2);
	log_put_text(first, 0, SLOT_NAME, "train");
	log_put_slot(first, slot_word0(0, SLOT_I64, 0), 12);
	log_put(first, RECORD_COUNTER, STRING_ID_DYNAMIC, 0, 0, 0, 2);
	log_put_text(first, 0, SLOT_NAME, "queue");
	log_put_slot(first, slot_word0(0, SLOT_I64, 0), 13);
	log_assemble();
	expect_lines(3, (const size_t[]){1, 1, 1});
	expect_stat(0, 0, "step_num", STAT_INT64, 12);
	ck_assert_str_eq(logs.plane->lines[1].name, "ten bytes!");
	expect(1, 0, 11, 0, CAPTURE_NS, "unfinished");
	ck_assert_str_eq(log_event_name(2, 0), "queue");
	expect_stat(2, 0, "value", STAT_INT64, 13);
}
END_TEST

START_TEST(is_unfinished_in_each_part_before_its_end_and_then_whole)
{
	begin(first, 7, 100);
	assemble_part(CAPTURE_NS);
	expect_lines(1, (const size_t[]){1});
	expect(0, 0, 7, 100, CAPTURE_NS, "unfinished");
	next_part();
	assemble_part(CAPTURE_NS);
	expect_lines(1, (const size_t[]){1});
	expect(0, 0, 7, 100, CAPTURE_NS, "unfinished");
	next_part();
	end(second, 7, 600);
	assemble_part(CAPTURE_NS);
	expect_lines(1, (const size_t[]){1});
	expect(0, 0, 7, 100, 600, "");
	next_part();
	assemble_part(CAPTURE_NS);
	expect_lines(0, NULL);
}
END_TEST

START_TEST(an_end_waits_for_the_begin_of_another_thread)
{
	/*
	 * The first thread's ring was empty when it was read, and the begin
	 * was written right after that.
	 */
	end(second, 7, 600);
	assemble_part(500);
	expect_lines(0, NULL);
	next_part();
	begin(first, 7, 550);
	assemble_part(CAPTURE_NS);
	expect_lines(1, (const size_t[]){1});
	expect(0, 0, 7, 550, 600, "");
}
END_TEST

START_TEST(carries_names_made_at_run_time)
{
	log_put(first, RECORD_ASYNC_BEGIN, STRING_ID_DYNAMIC, 400, 0, 0, 3);
	log_put_text(first, 0, SLOT_NAME, "ten bytes!");
	log_put_slot(first, slot_word0(0, SLOT_U64, 0), 11);
	assemble_part(CAPTURE_NS);
	next_part();
	put(second, RECORD_ASYNC_END, "ten bytes!", 11, 600);
	assemble_part(CAPTURE_NS);
	expect_lines(1, (const size_t[]){1});
	ck_assert_str_eq(logs.plane->lines[0].name, "ten bytes!");
	expect(0, 0, 11, 100, 600, "");
}
END_TEST

static void begin_with_arguments(struct thread_log *log, uint64_t at_ns)
{
	log_put(log, RECORD_ASYNC_BEGIN, fixture_add_string("request"), at_ns * LOG_TICKS_PER_NS, 0,
		0, 3);
	log_put_slot(log, slot_word0(0, SLOT_U64, 0), 7);
	log_put_slot(log, slot_word0(fixture_add_string("size"), SLOT_I64, 0), 42);
	log_put_text(log, fixture_add_string("kind"), SLOT_TEXT, "read");
}

static void expect_arguments(size_t line, size_t i)
{
	const struct trace_stat *kind = log_event_stat(line, i, "kind");

	expect_stat(line, i, "size", STAT_INT64, 42);
	ck_assert_ptr_nonnull(kind);
	ck_assert_int_eq(kind->type, STAT_STRING);
	ck_assert_str_eq(names_get(&logs.plane->stat_names, kind->value.string), "read");
}

START_TEST(a_span_has_the_arguments_of_its_begin)
{
	begin_with_arguments(first, 100);
	end(second, 7, 300);
	begin(second, 8, 400);
	log_assemble();
	expect_lines(1, (const size_t[]){2});
	expect(0, 0, 7, 100, 300, "");
	expect_arguments(0, 0);
	expect(0, 1, 8, 400, CAPTURE_NS, "unfinished");
	ck_assert_ptr_null(log_event_stat(0, 1, "size"));
}
END_TEST

START_TEST(each_part_has_the_arguments_of_the_begin)
{
	begin_with_arguments(first, 400);
	assemble_part(CAPTURE_NS);
	expect_arguments(0, 0);
	next_part();
	end(second, 7, 600);
	assemble_part(CAPTURE_NS);
	expect_lines(1, (const size_t[]){1});
	expect(0, 0, 7, 400, 600, "");
	expect_arguments(0, 0);
}
END_TEST

/* --- missing marks ------------------------------------------------------------------------- */

/*
 * Makes a snapshot of a flight recorder in which the first thread's ring reaches back to
 * |first_ns|, and the second one's to |second_ns|.
 */
static void overwrite(uint64_t first_ns, uint64_t second_ns)
{
	logs.drain.is_picture = 1;
	first->n_overwritten = second->n_overwritten = 1;
	first->complete_ticks = LOG_START_TICKS + first_ns * LOG_TICKS_PER_NS;
	second->complete_ticks = LOG_START_TICKS + second_ns * LOG_TICKS_PER_NS;
}

/* Expects the numbers of ends and begins that are counted but not drawn. */
static void expect_halves(uint64_t n_ends, uint64_t n_begins)
{
	ck_assert_uint_eq(log_plane_stat("ptap_async_ends_without_begin"), n_ends);
	ck_assert_uint_eq(log_plane_stat("ptap_async_begins_without_end"), n_begins);
	ck_assert_int_eq(log_has_warning("their begins were overwritten"), n_ends > 0);
	ck_assert_int_eq(log_has_warning("their ends may have been"), n_begins > 0);
	ck_assert_uint_eq(log_plane_stat("ptap_unmatched_async_ends"), 0);
	ck_assert_uint_eq(log_plane_stat("dropped_traces"), logs.drain.lost_oldest);
}

START_TEST(an_end_without_its_overwritten_begin_makes_no_span)
{
	/*
	 * The thread of the begins writes more than the thread of the ends, so its ring
	 * does not reach back as far.
	 */
	overwrite(500, 100);
	for (uint64_t id = 0; id < 10; id++) {
		if (id >= 5)
			begin(first, id, 100 * id);
		end(second, id, 100 * id + 50);
	}
	log_assemble();
	expect_lines(1, (const size_t[]){5});
	for (size_t i = 0; i < 5; i++)
		expect(0, i, 5 + i, 100 * (5 + (int64_t)i), 100 * (5 + (int64_t)i) + 50, "");
	expect_halves(5, 0);
}
END_TEST

START_TEST(begins_without_their_overwritten_ends_do_not_pile_up)
{
	overwrite(0, 5000);
	for (uint64_t id = 0; id < 600; id++) {
		begin(first, id, 10 * id);
		if (id >= 500 && id < 598)
			end(second, id, 10 * id + 5);
	}
	log_assemble();
	expect_lines(2, (const size_t[]){99, 1});
	expect(0, 98, 598, 5980, CAPTURE_NS, "unfinished");
	expect(1, 0, 599, 5990, CAPTURE_NS, "unfinished");
	expect_halves(0, 500);
}
END_TEST

START_TEST(a_long_span_over_the_window_s_start_is_whole)
{
	/*
	 * A flight recorder must keep a long span that began before the window. No id is used
	 * twice, so the halves belong together.
	 */
	overwrite(100, 5000);
	begin(first, 1, 200);
	begin(first, 2, 5500);
	end(second, 2, 5600);
	end(second, 1, 9000);
	log_assemble();
	expect_lines(2, (const size_t[]){1, 1});
	expect(0, 0, 1, 200, 9000, "");
	expect(1, 0, 2, 5500, 5600, "");
	expect_halves(0, 0);
}
END_TEST

START_TEST(halves_of_two_spans_are_not_made_one)
{
	/*
	 * One id is used several times. The first span's end and the next
	 * one's begin were overwritten.
	 */
	overwrite(100, 5000);
	begin(first, 1, 200);
	end(second, 1, 5100);
	begin(second, 1, 5200);
	end(second, 1, 5300);
	log_assemble();
	expect_lines(1, (const size_t[]){1});
	expect(0, 0, 1, 5200, 5300, "");
	expect_halves(1, 1);
}
END_TEST

/* Makes the first thread's ring full from |from_ns| to |until_ns|. */
static void lose(uint64_t from_ns, uint64_t until_ns)
{
	first->lost[LOSS_FULL]++;
	gaps_add(&logs.drain.gaps, LOG_START_TICKS + from_ns * LOG_TICKS_PER_NS,
		LOG_START_TICKS + until_ns * LOG_TICKS_PER_NS);
}

START_TEST(halves_beside_lost_records_are_not_made_one)
{
	const struct trace_stat *gaps;

	/*
	 * The missing marks may be, with the id 1: the first span's end and the second
	 * one's begin; with 2: a begin; with 3: an end.
	 */
	lose(2000, 4000);
	for (uint64_t i = 0; i < 2; i++)
		begin(first, 1, 100 + 8000 * i);
	end(second, 1, 5000);
	end(second, 1, 9000);
	end(second, 2, 4500);
	begin(first, 3, 1000);
	log_assemble();
	expect_lines(1, (const size_t[]){1});
	expect(0, 0, 1, 8100, 9000, "");
	ck_assert_uint_eq(log_plane_stat("ptap_async_ends_without_begin"), 2);
	ck_assert_uint_eq(log_plane_stat("ptap_async_begins_without_end"), 2);
	gaps = plane_find_own_stat(logs.plane, "ptap_gaps_ns");
	ck_assert_ptr_nonnull(gaps);
	ck_assert_str_eq(names_get(&logs.plane->stat_names, gaps->value.string),
		"1700000000000002000-1700000000000004000");
}
END_TEST

START_TEST(loss_within_a_thread_makes_its_span_uncertain)
{
	lose(300, 400);
	for (uint64_t i = 0; i < 2; i++) {
		begin(first, 1, 1000 * i + 200);
		end(first, 1, 1000 * i + 700);
	}
	log_assemble();
	expect_lines(1, (const size_t[]){1});
	expect(0, 0, 1, 1200, 1700, "");
}
END_TEST

START_TEST(an_id_used_once_is_joined_across_lost_records)
{
	lose(300, 400);
	begin(first, 1, 200);
	end(second, 1, 700);
	log_assemble();
	expect_lines(1, (const size_t[]){1});
	expect(0, 0, 1, 200, 700, "");
	ck_assert_uint_eq(log_plane_stat("ptap_async_ends_without_begin"), 0);
	ck_assert_uint_eq(log_plane_stat("ptap_async_begins_without_end"), 0);
}
END_TEST

START_TEST(an_id_that_one_thread_alone_uses_has_no_gap)
{
	overwrite(100, 5000);
	for (uint64_t i = 0; i < 5; i++) {
		begin(first, 1, 1000 * i + 200);
		end(first, 1, 1000 * i + 700);
	}
	log_assemble();
	expect_lines(1, (const size_t[]){5});
	expect(0, 0, 1, 200, 700, "");
	expect_halves(0, 0);
}
END_TEST

START_TEST(an_end_too_many_is_told_from_one_without_its_begin)
{
	overwrite(100, 5000);
	end(first, 1, 6000);
	begin(first, 2, 7000);
	end(first, 2, 8000);
	end(first, 2, 9000);
	log_assemble();
	expect_lines(1, (const size_t[]){1});
	ck_assert_uint_eq(log_plane_stat("ptap_async_ends_without_begin"), 1);
	ck_assert_uint_eq(log_plane_stat("ptap_unmatched_async_ends"), 1);
}
END_TEST

START_TEST(records_outside_the_request_count_as_before_the_start)
{
	overwrite(100, 500);
	logs.drain.asked_ticks = LOG_START_TICKS + 1000 * LOG_TICKS_PER_NS;
	first->is_limited = second->is_limited = 1;
	first->complete_ticks = second->complete_ticks = logs.drain.asked_ticks;
	logs.window = 1000 * LOG_TICKS_PER_NS;
	end(first, 1, 1500);
	begin(second, 2, 1200);
	log_assemble();
	expect_lines(2, (const size_t[]){1, 1});
	expect(0, 0, 1, 1000, 1500, "started_before");
	expect(1, 0, 2, 1200, CAPTURE_NS, "unfinished");
	expect_halves(0, 0);
}
END_TEST

START_TEST(dropped_oldest_part_of_a_session_leaves_no_span)
{
	/* The first part has the open spans 1 and 2. The second has lost all from before 5,000. */
	begin(first, 1, 100);
	begin(first, 2, 200);
	assemble_part(CAPTURE_NS);
	next_part();
	logs.drain.lost_oldest = 7;
	logs.window = 5000 * LOG_TICKS_PER_NS;
	end(second, 2, 6000);
	end(second, 3, 7000);
	begin(first, 4, 8000);
	assemble_part(CAPTURE_NS);
	expect_lines(1, (const size_t[]){2});
	expect(0, 0, 2, 200, 6000, "");
	expect(0, 1, 4, 8000, CAPTURE_NS, "unfinished");
	expect_halves(1, 1);
	next_part();
	assemble_part(CAPTURE_NS);
	expect_lines(1, (const size_t[]){1});
	expect(0, 0, 4, 8000, CAPTURE_NS, "unfinished");
}
END_TEST

START_TEST(memory_of_carried_marks_is_bounded)
{
	const struct async_mark mark = {.ticks = 1};
	size_t n = ASYNC_CARRY_MAX_BYTES / (sizeof mark + 4);

	for (size_t i = 0; i < n + 10; i++)
		ck_assert_int_eq(async_carry_add(&carry, &mark, "name", NULL, NULL), 0);
	ck_assert_uint_eq(carry.n_marks, n);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(joins_a_begin_and_an_end_of_another_thread),
	UNIT_TEST(cuts_open_spans_where_the_process_ended),
	UNIT_TEST(keeps_names_and_ids_apart),
	UNIT_TEST(puts_spans_that_follow_one_another_on_one_line),
	UNIT_TEST(puts_spans_that_overlap_on_lines_of_their_own),
	UNIT_TEST(cuts_unended_spans_at_the_end),
	UNIT_TEST(starts_earlier_spans_at_the_start),
	UNIT_TEST(counts_an_end_too_many),
	UNIT_TEST(leaves_threads_and_counters_as_they_are),
	UNIT_TEST(keeps_thousands_of_overlapping_spans),
	UNIT_TEST(makes_a_flow_s_ends_known_to_viewers),
	UNIT_TEST(finds_the_number_behind_a_run_time_name),
	UNIT_TEST(is_unfinished_in_each_part_before_its_end_and_then_whole),
	UNIT_TEST(an_end_waits_for_the_begin_of_another_thread),
	UNIT_TEST(carries_names_made_at_run_time),
	UNIT_TEST(a_span_has_the_arguments_of_its_begin),
	UNIT_TEST(each_part_has_the_arguments_of_the_begin),
	UNIT_TEST(an_end_without_its_overwritten_begin_makes_no_span),
	UNIT_TEST(begins_without_their_overwritten_ends_do_not_pile_up),
	UNIT_TEST(a_long_span_over_the_window_s_start_is_whole),
	UNIT_TEST(halves_of_two_spans_are_not_made_one),
	UNIT_TEST(halves_beside_lost_records_are_not_made_one),
	UNIT_TEST(loss_within_a_thread_makes_its_span_uncertain),
	UNIT_TEST(an_id_used_once_is_joined_across_lost_records),
	UNIT_TEST(an_id_that_one_thread_alone_uses_has_no_gap),
	UNIT_TEST(an_end_too_many_is_told_from_one_without_its_begin),
	UNIT_TEST(records_outside_the_request_count_as_before_the_start),
	UNIT_TEST(dropped_oldest_part_of_a_session_leaves_no_span),
	UNIT_TEST(memory_of_carried_marks_is_bounded),
	{NULL},
};

UNIT_MAIN("asyncs", .set_up = setup, .tear_down = teardown, .tests = tests)
