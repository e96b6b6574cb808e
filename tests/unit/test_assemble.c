/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the way from raw slots to the trace model: lines, names, times, stats and order. */
#include "daemon/pipeline/assembly/assemble.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/chunks.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "tests/unit/space_totals.h"
#include "tests/unit/unit.h"
#include "tests/unit/xspace_decode.h"
#include "trace/xspace/xspace.h"

/* Times are in nanoseconds. */
static void expect(size_t line, size_t i, const char *name, int64_t start, int64_t duration)
{
	ck_assert_str_eq(log_event_name(line, i), name);
	ck_assert_int_eq(log_event(line, i)->start_ns, start);
	ck_assert_int_eq(log_event(line, i)->duration_ns, duration);
}

static void expect_int(size_t line, size_t i, const char *name, int64_t value)
{
	const struct trace_stat *stat = log_event_stat(line, i, name);

	ck_assert_msg(stat, "no %s", name);
	ck_assert_int_eq(stat->type, STAT_INT64);
	ck_assert_int_eq(stat->value.i64, value);
}

START_TEST(makes_a_line_per_thread)
{
	const struct trace_stat *name;

	log_put_span(log_add(4711, "worker"), "a", 40, 80, 0);
	log_put_span(log_add(4712, ""), "b", 0, 4, 0);
	log_add(4713, "silent");
	log_assemble();
	ck_assert_uint_eq(logs.plane->n_lines, 2);
	ck_assert_int_eq(logs.plane->lines[0].id, 4711);
	ck_assert_str_eq(logs.plane->lines[0].name, "worker");
	ck_assert_str_eq(logs.plane->lines[1].name, "(unnamed)");
	expect(0, 0, "a", 10, 10);
	expect(1, 0, "b", 0, 1);
	ck_assert_uint_eq(log_event(0, 0)->stats, 0);
	ck_assert_uint_eq(log_plane_stat("process_id"), (uint64_t)fixture.target.pid);
	name = plane_find_own_stat(logs.plane, "ptap_process_name");
	ck_assert_str_eq(names_get(&logs.plane->stat_names, name->value.string), "fixture");
	ck_assert_uint_eq(log_plane_stat("dropped_traces"), 0);
	ck_assert_uint_eq(logs.space->warnings.n_texts, 0);
}
END_TEST

/* If the counter advances in steps of 10 ns, a short span begins and ends at the same value. */
START_TEST(a_span_below_the_clocks_step_is_no_instant)
{
	struct thread_log *log = log_add(4711, "worker");
	struct chunks out = CHUNKS_INIT;
	struct report_totals totals;
	struct space *again;
	uint8_t *bytes;
	size_t n = 0;

	log_put_span(log, "short", 40, 40, 0);
	log_put_span(log, "long", 80, 120, 0);
	log_put(log, RECORD_INSTANT, fixture_add_string("mark"), 160, 0, 0, 1);
	log_put_text(log, fixture_add_string("key"), SLOT_TEXT, "value");
	log_put(log, RECORD_SPAN, fixture_add_string("with an argument"), 200, 0, 0, 1);
	log_put_text(log, fixture_add_string("key"), SLOT_TEXT, "value");
	log_assemble();
	ck_assert_int_eq(xspace_encode(logs.space, &out), 0);
	bytes = malloc(out.total_bytes);
	for (size_t i = 0; i < out.n_chunks; n += out.chunks[i++].used_bytes)
		memcpy(bytes + n, out.chunks[i].data, out.chunks[i].used_bytes);
	ck_assert_int_eq(xspace_decode(bytes, n, &again, NULL), 0);
	space_count_totals(again, &totals);
	ck_assert_uint_eq(totals.n_spans, 3);
	ck_assert_uint_eq(totals.n_instants, 1);
	free(bytes);
	chunks_deinit(&out);
	space_free(again);
}
END_TEST

START_TEST(keeps_threads_with_the_same_tid_apart)
{
	for (int i = 0; i < 3; i++)
		log_put_span(log_add(4711, "again"), "a", 0, 4, 0);
	log_put_span(log_add(4711 + (1 << 22), "neighbour"), "a", 0, 4, 0);
	log_assemble();
	ck_assert_uint_eq(logs.plane->n_lines, 4);
	ck_assert_int_eq(logs.plane->lines[0].id, 4711);
	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < i; k++)
			ck_assert_int_ne(logs.plane->lines[i].id, logs.plane->lines[k].id);
}
END_TEST

/* Maps an empty file of that name into this process. The caller unmaps it. */
static void *map_library(const char *name)
{
	char dir[] = "/tmp/test_assemble.XXXXXX";
	char path[64];
	void *at;
	int fd;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	at = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(at, MAP_FAILED);
	close(fd);
	unlink(path);
	rmdir(dir);
	return at;
}

/* Pairs of pthread_self() and the thread's line id that were seen in a program with JAX 0.10.2. */
START_TEST(tells_the_ids_that_a_jax_server_gives_threads)
{
	const struct trace_stat *ids;
	void *library;

	log_put_span(log_add(4711, "side"), "a", 40, 80, 0);
	logs.drain.logs[0]->handle = UINT64_C(0x7fa1affff6c0);
	log_put_span(log_add(4711, "main"), "a", 40, 80, 0);
	logs.drain.logs[1]->handle = UINT64_C(0x7fa208e32040);
	log_put_span(log_add(4713, "of an unknown handle"), "a", 40, 80, 0);
	log_assemble();
	ck_assert_ptr_null(plane_find_own_stat(logs.plane, "ptap_stock_thread_ids"));
	space_free(logs.space);
	library = map_library("libjax_common.so");
	log_assemble();
	munmap(library, 4096);
	ids = plane_find_own_stat(logs.plane, "ptap_stock_thread_ids");
	ck_assert_ptr_nonnull(ids);
	ck_assert_str_eq(names_get(&logs.plane->stat_names, ids->value.string),
		"4711 3016192935949658487\n4199015 5911692726519795040\n");
}
END_TEST

/* The 48 bits of a start in the ring wrap around 1000 ticks after the capture's start. */
START_TEST(unwraps_starts)
{
	struct thread_log *log = log_add(1, "t");

	log_put_span(log, "before", 996, 998, 0);
	log_put_span(log, "after", 1004, 1008, 0);
	log_put_span(log, "late", 4000000, 4000004, 0);
	log_assemble();
	expect(0, 0, "before", 249, 0);
	expect(0, 1, "after", 251, 1);
	expect(0, 2, "late", 1000000, 1);
}
END_TEST

START_TEST(leaves_out_spans_that_began_before_the_capture)
{
	struct thread_log *log = log_add(1, "t");

	log_put_span(log, "early", 0 - UINT64_C(4), 40, 0);
	log_put_span(log, "good", 0, 40, 0);
	log_assemble();
	ck_assert_uint_eq(logs.plane->lines[0].n_events, 1);
	expect(0, 0, "good", 0, 10);
}
END_TEST

START_TEST(takes_long_durations_from_their_slot)
{
	struct thread_log *log = log_add(1, "t");

	log_put(log, RECORD_SPAN, STRING_ID_DYNAMIC, 0, RECORD_DURATION_MASK, 0, 2);
	log_put_text(log, 0, SLOT_NAME, "long");
	log_put_slot(log, slot_word0(0, SLOT_DURATION, 0), UINT64_C(1) << 42);
	log_assemble();
	expect(0, 0, "long", 0, INT64_C(1) << 40);
	ck_assert_uint_eq(log_event(0, 0)->stats, 0);
}
END_TEST

START_TEST(needs_no_stats_for_run_time_names)
{
	struct thread_log *log = log_add(1, "t");

	log_put(log, RECORD_INSTANT, STRING_ID_DYNAMIC, 4, 0, 0, 2);
	log_put_text(log, 0, SLOT_NAME, "a name at run time");
	log_assemble();
	expect(0, 0, "a name at run time", 1, 0);
}
END_TEST

static void put_number(struct thread_log *log, const char *key, enum slot_type type, uint64_t bits)
{
	log_put_slot(log, slot_word0(fixture_add_string(key), type, 0), bits);
}

START_TEST(makes_stats_of_arguments)
{
	struct thread_log *log = log_add(1, "t");
	double third = 1.0 / 3;
	uint64_t bits;
	const struct trace_stat *stat;

	memcpy(&bits, &third, sizeof bits);
	log_put(log, RECORD_SPAN, fixture_add_string("span"), 0, 4, 0, 7);
	put_number(log, "i", SLOT_I64, (uint64_t)-5);
	put_number(log, "u", SLOT_U64, UINT64_MAX);
	put_number(log, "f", SLOT_F64, bits);
	put_number(log, "p", SLOT_POINTER, 0xbeef);
	log_put_text(log, fixture_add_string("s"), SLOT_TEXT, "twenty bytes of text");
	put_number(log, "last", SLOT_I64, 1);
	log_assemble();
	expect_int(0, 0, "i", -5);
	expect_int(0, 0, "last", 1);
	stat = log_event_stat(0, 0, "u");
	ck_assert_int_eq(stat->type, STAT_UINT64);
	ck_assert_uint_eq(stat->value.u64, UINT64_MAX);
	stat = log_event_stat(0, 0, "f");
	ck_assert_int_eq(stat->type, STAT_DOUBLE);
	ck_assert(stat->value.f64 == third);
	stat = log_event_stat(0, 0, "p");
	ck_assert_int_eq(stat->type, STAT_STRING);
	ck_assert_str_eq(names_get(&logs.plane->stat_names, stat->value.string), "0xbeef");
	stat = log_event_stat(0, 0, "s");
	ck_assert_int_eq(stat->type, STAT_STRING);
	ck_assert_str_eq(
		names_get(&logs.plane->stat_names, stat->value.string), "twenty bytes of text");
	ck_assert_uint_eq(log_plane_stat("ptap_lost_invalid"), 0);
}
END_TEST

START_TEST(numbers_steps)
{
	struct thread_log *log = log_add(1, "t");

	log_put(log, RECORD_STEP, fixture_add_string("train"), 0, 40, 0, 1);
	log_put_slot(log, slot_word0(0, SLOT_I64, 0), (uint64_t)-7);
	log_assemble();
	expect(0, 0, "train", 0, 10);
	expect_int(0, 0, "_r", 1);
	expect_int(0, 0, "step_num", -7);
}
END_TEST

static void put_sample(struct thread_log *log, uint32_t name, uint64_t at, uint64_t value)
{
	log_put(log, RECORD_COUNTER, name, at, 0, 0, 1);
	log_put_slot(log, slot_word0(0, SLOT_I64, 0), value);
}

START_TEST(makes_a_line_per_counter)
{
	struct thread_log *first = log_add(1, "t");
	struct thread_log *second = log_add(2, "u");
	uint32_t queue = fixture_add_string("queue");
	uint32_t again = fixture_add_string("queue"); /* from another place in the source */
	uint32_t load = fixture_add_string("load");

	put_sample(first, queue, 40, 1);
	put_sample(first, load, 44, 50);
	put_sample(first, queue, 80, 3);
	put_sample(second, again, 60, 2);
	log_assemble();
	ck_assert_uint_eq(logs.plane->n_lines, 2);
	for (size_t i = 0; i < 2; i++)
		ck_assert_str_eq(logs.plane->lines[i].name, LINE_COUNTERS);
	ck_assert_int_ne(logs.plane->lines[0].id, logs.plane->lines[1].id);
	ck_assert_uint_eq(logs.plane->lines[0].n_events, 3);
	for (size_t i = 0; i < 3; i++) {
		expect(0, i, "queue", 10 + 5 * (int64_t)i, 0);
		expect_int(0, i, "value", 1 + (int64_t)i);
	}
	ck_assert_uint_eq(logs.plane->lines[1].n_events, 1);
	expect(1, 0, "load", 11, 0);
}
END_TEST

START_TEST(cuts_open_spans_at_the_end)
{
	struct thread_log *log = log_add(1, "t");
	struct open_span *step;

	log_put_span(log, "done", 800, 1200, 2);
	log_put_open(log, "outer", 400);
	step = log_put_open(log, "step", 600);
	step->kind = RECORD_STEP | RING_OPEN_HAS_FRAME;
	step->n_slots = 1;
	step->slots[0].word[0] = slot_word0(0, SLOT_I64, 0);
	step->slots[0].word[1] = 12;
	log_put_open(log, "of another capture", 0 - UINT64_C(400));
	log_put_open(log, "after the end", 5000000);
	log_assemble();
	ck_assert_uint_eq(logs.plane->lines[0].n_events, 3);
	expect(0, 0, "outer", 100, 1000000 - 100);
	expect_int(0, 0, "unfinished", 1);
	expect(0, 1, "step", 150, 1000000 - 150);
	expect_int(0, 1, "unfinished", 1);
	expect_int(0, 1, "step_num", 12);
	expect(0, 2, "done", 200, 100);
	ck_assert_ptr_null(log_event_stat(0, 2, "unfinished"));
}
END_TEST

START_TEST(cuts_open_spans_where_their_thread_ended)
{
	struct thread_log *lives = log_add(1, "lives");
	struct thread_log *gone = log_add(2, "gone");

	gone->gone_ticks = LOG_START_TICKS + 2000;
	log_put_open(lives, "open", 400);
	log_put_open(gone, "left open", 400);
	log_assemble();
	expect(0, 0, "open", 100, 1000000 - 100);
	expect(1, 0, "left open", 100, 400);
	expect_int(1, 0, "unfinished", 1);
}
END_TEST

/* A span that one thread begins while another thread is already ending is not lost. */
START_TEST(cuts_open_spans_where_the_process_ended)
{
	struct thread_log *log = log_add(1, "t");

	logs.ended = 1600;
	log->gone_ticks = LOG_START_TICKS + 2000;
	log_put_open(log, "open", 400);
	log_put_open(log, "begun meanwhile", 1608);
	log_assemble();
	expect(0, 0, "open", 100, 300);
	expect(0, 1, "begun meanwhile", 402, 0);
}
END_TEST

START_TEST(says_how_the_process_ended)
{
	struct target *t = logs.drain.target;

	atomic_store(&t->ended_ticks, LOG_START_TICKS + 1600);
	atomic_store(&t->ending, SIGSEGV + 1);
	log_assemble();
	ck_assert_str_eq(plane_find_text(logs.plane, "ptap_ended"), "killed by SIGSEGV");
}
END_TEST

START_TEST(says_nothing_of_an_end_behind_the_stop)
{
	struct target *t = logs.drain.target;

	atomic_store(&t->ended_ticks, LOG_STOP_TICKS + 1);
	atomic_store(&t->ending, SIGSEGV + 1);
	log_assemble();
	ck_assert_ptr_null(plane_find_own_stat(logs.plane, "ptap_ended"));
}
END_TEST

START_TEST(leaves_out_records_behind_the_agreed_end)
{
	struct thread_log *log = log_add(1, "t");
	uint32_t name = fixture_add_string("span");

	logs.end_ns = 100;
	/* The first record of a name is read by another loop than the next ones. */
	log_put(log, RECORD_SPAN, name, 0, 200, 1, 0);
	log_put(log, RECORD_SPAN, name, 240, 160, 1, 0);
	log_put(log, RECORD_SPAN, name, 280, 520, 1, 0);
	log_put(log, RECORD_SPAN, name, 404, 96, 1, 0);
	log_put_span(log, "another", 280, 520, 1);
	put_sample(log, fixture_add_string("queue"), 404, 7);
	log_put_open(log, "open", 100);
	log_put_open(log, "opened later", 404);
	log_assemble();
	ck_assert_uint_eq(logs.plane->n_lines, 1);
	ck_assert_uint_eq(logs.plane->lines[0].n_events, 5);
	expect(0, 0, "span", 0, 50);
	expect(0, 1, "open", 25, 75);
	expect_int(0, 1, "unfinished", 1);
	expect(0, 2, "span", 60, 40);
	ck_assert_ptr_null(log_event_stat(0, 2, "unfinished"));
	expect(0, 3, "another", 70, 30);
	expect_int(0, 3, "unfinished", 1);
	expect(0, 4, "span", 70, 30);
	expect_int(0, 4, "unfinished", 1);
}
END_TEST

START_TEST(spans_cut_at_the_end_nest)
{
	struct thread_log *log = log_add(1, "main");

	/* In ticks, which are whole numbers, the stop is a nanosecond before the agreed end. */
	logs.end_ns = logs.stop_ns = 1000001;
	log_put_span(log, "inner", 400, 4000400, 1);
	log_put_open(log, "outer", 400);
	log_put(log, RECORD_ASYNC_BEGIN, fixture_add_string("async"), 400, 0, 0, 1);
	log_put_slot(log, slot_word0(0, SLOT_U64, 0), 7);
	log_assemble();
	ck_assert_uint_eq(logs.plane->lines[0].n_events, 2);
	expect(0, 0, "outer", 100, 999901);
	expect(0, 1, "inner", 100, 999901);
	expect(1, 0, "async", 100, 999901);
}
END_TEST

START_TEST(reports_losses_by_reason)
{
	struct thread_log *log = log_add(77, "busy");

	log_put_span(log, "a", 0, 4, 0);
	log->lost[LOSS_FULL] = 5;
	log->lost[LOSS_REENTRY] = 6;
	log->lost[LOSS_DEPTH] = 7;
	log->lost[LOSS_CUT] = 1000;
	log->lost[LOSS_LEFT_OPEN] = 11;
	log->lost[LOSS_FOREIGN_END] = 2000;
	log->lost_memory = 8;
	logs.drain.lost_no_ring = 9;
	logs.drain.n_broken = 10;
	log_assemble();
	ck_assert_uint_eq(log_plane_stat("ptap_lost_ring_full"), 5);
	ck_assert_uint_eq(log_plane_stat("ptap_lost_reentry"), 6);
	ck_assert_uint_eq(log_plane_stat("ptap_lost_too_deep"), 7);
	ck_assert_uint_eq(log_plane_stat("ptap_cut_texts"), 1000);
	ck_assert_uint_eq(log_plane_stat("ptap_lost_left_open"), 11);
	ck_assert_uint_eq(log_plane_stat("ptap_foreign_ends"), 2000);
	ck_assert_uint_eq(log_plane_stat("ptap_lost_memory"), 8);
	ck_assert_uint_eq(log_plane_stat("ptap_lost_no_ring"), 9);
	ck_assert_uint_eq(log_plane_stat("ptap_lost_invalid"), 10);
	ck_assert_uint_eq(log_plane_stat("dropped_traces"), 5 + 6 + 7 + 8 + 9 + 10 + 11);
	ck_assert(log_has_warning("dropped 5 records of thread busy (77)"));
	ck_assert(log_has_warning("6 records dropped: a signal handler"));
	ck_assert(log_has_warning("7 spans dropped"));
	ck_assert(log_has_warning("1000 names or arguments were cut"));
	ck_assert(log_has_warning("9 records dropped: no ring for another thread"));
	ck_assert(log_has_warning("11 spans dropped: the spans around them ended first"));
	ck_assert(log_has_warning("2000 ends of spans left out: another thread had begun them"));
	ck_assert_uint_eq(logs.space->warnings.n_texts, 9);
}
END_TEST

START_TEST(sums_up_losses_of_many_threads)
{
	for (int i = 0; i < 20; i++)
		log_add(100 + i, "t")->lost[LOSS_FULL] = 1;
	log_assemble();
	ck_assert_uint_eq(log_plane_stat("ptap_lost_ring_full"), 20);
	ck_assert(log_has_warning("dropped 12 records of further threads"));
	ck_assert_uint_eq(logs.space->warnings.n_texts, 9);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(makes_a_line_per_thread),
	UNIT_TEST(a_span_below_the_clocks_step_is_no_instant),
	UNIT_TEST(keeps_threads_with_the_same_tid_apart),
	UNIT_TEST(tells_the_ids_that_a_jax_server_gives_threads),
	UNIT_TEST(unwraps_starts),
	UNIT_TEST(leaves_out_spans_that_began_before_the_capture),
	UNIT_TEST(takes_long_durations_from_their_slot),
	UNIT_TEST(needs_no_stats_for_run_time_names),
	UNIT_TEST(makes_stats_of_arguments),
	UNIT_TEST(numbers_steps),
	UNIT_TEST(makes_a_line_per_counter),
	UNIT_TEST(cuts_open_spans_at_the_end),
	UNIT_TEST(cuts_open_spans_where_their_thread_ended),
	UNIT_TEST(cuts_open_spans_where_the_process_ended),
	UNIT_TEST(says_how_the_process_ended),
	UNIT_TEST(says_nothing_of_an_end_behind_the_stop),
	UNIT_TEST(leaves_out_records_behind_the_agreed_end),
	UNIT_TEST(spans_cut_at_the_end_nest),
	UNIT_TEST(reports_losses_by_reason),
	UNIT_TEST(sums_up_losses_of_many_threads),
	{NULL},
};

UNIT_MAIN("assemble", .set_up = log_open, .tear_down = log_close, .tests = tests)
