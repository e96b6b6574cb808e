/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a flight recorder that runs for days, with threads that write seldom: all records of a
 * snapshot or a capture have the right times, and those without a known time are counted. Linked
 * with -Wl,--wrap of clock_pair_read and guest_read_clock, which are the clock, and of orders_begin
 * and orders_end: no program answers orders here.
 */
#include "daemon/pipeline/drain/ring_notes.h"

#include <check.h>

#include "base/diag.h"
#include "daemon/pipeline/assembly/assemble.h"
#include "daemon/pipeline/drain/drain.h"
#include "daemon/pipeline/recording/recorder.h"
#include "daemon/pipeline/recording/recording_cut.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/lap_fixture.h"
#include "tests/unit/players.h"
#include "tests/unit/unit.h"

/* The time between calls of recorder_tend() here. A server calls it every second. */
#define TEND_TICKS (LAP >> 5)

/* --- the server ---------------------------------------------------------------------------- */

static struct recorder recorder;

static void tend(void)
{
	recorder.due_ns = 0;
	recorder_tend(&recorder, 0);
}

static void pass(uint64_t ticks)
{
	while (ticks > TEND_TICKS) {
		played.now += TEND_TICKS;
		ticks -= TEND_TICKS;
		tend();
	}
	played.now += ticks;
	tend();
}

static void turn_on(int n)
{
	const struct recorder_config config = {.level = 1};
	struct diag d = DIAG_INIT;

	lap_set_rate(n);
	ck_assert_int_eq(recorder_start(&recorder, &config, &d), 0);
	played.now += 600;
}

static void setup(void)
{
	lap_setup();
	fixture_overwrite(true);
	recorder_init(&recorder, &laps.family);
}

/* Returns the number of records of the last |last_ms|, and sets laps.n_undated. */
static size_t snapshot(uint64_t last_ms)
{
	struct recording part;
	size_t n;

	played.now += 300;
	ck_assert_int_eq(recorder_cut(&recorder, last_ms, &part), 0);
	part_origin_set(&part, INT64_MAX);
	/* recorder_snapshot.c does the same. */
	part.budget.window_bytes = recorder.recording.budget.window_bytes;
	n = lap_see(&part);
	recording_part_deinit(&part);
	return n;
}

/* --- the tests ----------------------------------------------------------------------------- */

static const int rates[] = {1, 3};

/* One thread writes from time to time, and the others do not. */
static void be_idle(uint64_t ticks)
{
	pass(ticks / 3);
	players_play(0, play_point);
	pass(ticks - ticks / 3);
}

START_TEST(a_snapshot_dates_records_of_idle_threads)
{
	for (size_t rate = 0; rate < 2; rate++) {
		recorder_stop(&recorder);
		played.n = 0;
		turn_on(rates[rate]);
		lap_each_writes();
		be_idle(lap_idle_ticks[_i]);
		players_play(1, play_begin_and_end);
		be_idle(lap_idle_ticks[_i] / 2);
		players_play(0, play_begin_and_end);
		ck_assert_uint_eq(snapshot(0), (size_t)played.n);
		ck_assert_uint_eq(snapshot(1), 1);
		atomic_store(&fixture.arena->word, fixture_start(1));
	}
}
END_TEST

START_TEST(a_span_may_be_longer_than_a_lap)
{
	turn_on(3);
	players_play(0, play_begin);
	players_play(1, play_point);
	be_idle(lap_idle_ticks[_i]);
	played.now += 77;
	players_play(0, play_end);
	ck_assert_uint_eq(snapshot(0), (size_t)played.n);
	be_idle(lap_idle_ticks[_i]);
	ck_assert_uint_eq(snapshot(0), (size_t)played.n);
}
END_TEST

START_TEST(records_of_an_ended_thread_keep_their_time)
{
	turn_on(3);
	players_play(0, play_begin_and_end);
	pass(lap_idle_ticks[_i]);
	players_play(0, play_begin_and_end);
	players_stop(0);
	pass(lap_idle_ticks[_i]);
	ck_assert_uint_eq(recorder.ended_of[0]->n, 1);
	/* This thread may get the ring of the ended one. */
	players_play(1, play_begin_and_end);
	pass(100);
	ck_assert_uint_eq(snapshot(0), (size_t)played.n);
	pass(lap_idle_ticks[_i]);
	ck_assert_uint_eq(snapshot(0), (size_t)played.n);
}
END_TEST

/*
 * The server, or its machine, is stopped, and does not know when a record was written in that time.
 */
START_TEST(undatable_records_are_counted)
{
	int n_before;
	size_t n_found;

	turn_on(3);
	lap_each_writes();
	pass(TEND_TICKS);
	n_before = played.n;
	played.now += LAP / 4;
	lap_each_writes();
	played.now += 3 * LAP;
	tend();
	n_found = snapshot(0);
	ck_assert_uint_eq(n_found, 0);
	ck_assert_uint_eq(laps.n_undated, (uint64_t)played.n);
	lap_each_writes();
	n_found = snapshot(0);
	ck_assert_uint_eq(n_found, N_PLAYERS);
	ck_assert_uint_eq(laps.n_undated, (uint64_t)played.n - N_PLAYERS);
	/* All records are certainly older than the requested time, so none counts as a loss. */
	played.now += LAP / 1024;
	n_found = snapshot(1);
	ck_assert_uint_eq(n_found + laps.n_undated, 0);
	ck_assert_int_eq(n_before, N_PLAYERS);
}
END_TEST

/*
 * The thread writes once between two notes of its position, for months: the oldest records cannot
 * be dated, the others can.
 */
START_TEST(a_thread_that_writes_seldom_has_a_bound)
{
	size_t n_found;

	turn_on(3);
	for (uint32_t i = 0; i < 2 * RING_NOTES_MAX; i++) {
		players_play(0, play_point);
		pass(ERA_INTERVAL_TICKS);
	}
	n_found = snapshot(0);
	ck_assert_uint_eq(n_found + laps.n_undated, (uint64_t)played.n);
	ck_assert_uint_ge(n_found, RING_NOTES_MAX - 1);
	ck_assert_uint_gt(laps.n_undated, 0);
}
END_TEST

static void write_many(void)
{
	for (int i = 0; i < 100; i++)
		play_point();
}

/* Notes about overwritten records do not matter. */
START_TEST(a_thread_that_overwrites_keeps_its_ring_dated)
{
	size_t n_found;

	turn_on(3);
	for (int i = 0; i < (int)RING_NOTES_MAX * 3; i++) {
		if (played.n + 100 > PLAYED_MAX)
			played.n = 0;
		players_play(0, write_many);
		pass(ERA_INTERVAL_TICKS);
	}
	n_found = snapshot(0);
	ck_assert_uint_eq(laps.n_undated, 0);
	ck_assert_uint_gt(n_found, FIXTURE_SLOTS / 2 / 16 * 15 - 32);
}
END_TEST

/* The recorder is turned on in the middle of a capture, when the rings have much older records. */
START_TEST(records_older_than_the_recorder_are_left_out)
{
	size_t n_found;

	lap_each_writes();
	played.now += lap_idle_ticks[_i];
	turn_on(3);
	n_found = snapshot(0);
	ck_assert_uint_eq(n_found + laps.n_undated, 0);
	pass(LAP);
	players_play(0, play_begin_and_end);
	n_found = snapshot(0);
	ck_assert_uint_eq(n_found, 1);
	ck_assert_uint_eq(laps.n_undated, 0);
}
END_TEST

/* A thread gets a ring that had no owner for a long time, or never had one. */
START_TEST(a_new_thread_needs_no_note)
{
	turn_on(3);
	players_play(0, play_begin_and_end);
	players_stop(0);
	pass(lap_idle_ticks[_i]);
	played.now += TEND_TICKS;
	players_play(1, play_begin_and_end);
	players_play(2, play_begin_and_end);
	ck_assert_uint_eq(snapshot(0), (size_t)played.n);
}
END_TEST

static void write_a_mebibyte(void)
{
	while ((size_t)played.n * 2 < (1u << 20) / SLOT_BYTES)
		play_point();
}

/* Another thread encodes most of the snapshot, from slots that are handed to that thread. */
START_TEST(a_large_snapshot_is_dated_too)
{
	lap_reopen_sized(4u << 20);
	turn_on(3);
	players_play(0, write_a_mebibyte);
	be_idle(lap_idle_ticks[_i]);
	ck_assert_uint_eq(snapshot(0), (size_t)played.n);
}
END_TEST

/*
 * In a capture over the recorder, spans that began before the capture are left out, however early.
 */
START_TEST(a_capture_leaves_out_spans_that_began_before)
{
	struct drain_budget budget = {.max_bytes = 64u << 20};
	struct timeline timeline;
	struct assemble_input in = {.timeline = &timeline};
	struct drain drain;
	int error = 0;
	int n_before;

	turn_on(3);
	players_play(0, play_begin);
	played.now += 1500;
	players_play(1, play_begin);
	played.now += 1500;
	players_play(2, play_begin);
	pass(lap_idle_ticks[_i] - 3000);
	n_before = played.n;
	drain_init(&drain, &fixture.target, &budget);
	drain_begin_over(&drain, atomic_load(&fixture.arena->word), &error);
	timeline_init(&timeline, 1);
	timeline_add(&timeline, (struct clock_pair){played.now, lap_to_ns(played.now)});
	in.start_ticks = in.window_ticks = played.now;
	/* recording_begin() does the same. */
	in.earliest_ticks = played.now - LAP / 4;
	played.now += 3000;
	for (int i = 0; i < N_PLAYERS; i++) {
		players_play(i, play_end);
		players_play(i, play_begin_and_end);
	}
	played.now += 300000;
	drain_visit(&drain, &error);
	in.drain = &drain;
	in.stop_ticks = played.now;
	in.end_ns = lap_to_ns(played.now) - timeline.pairs[0].monotonic_ns;
	timeline_add(&timeline, (struct clock_pair){played.now, lap_to_ns(played.now)});
	ck_assert_uint_eq(lap_see_input(&in), N_PLAYERS);
	for (int i = 0; i < n_before; i++)
		ck_assert(!laps.is_seen[i]);
	ck_assert_int_eq(error, 0);
	timeline_deinit(&timeline);
	drain_deinit(&drain);
	ck_assert_uint_eq(snapshot(0), (size_t)played.n);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(a_snapshot_dates_records_of_idle_threads, N_IDLE),
	UNIT_LOOP(a_span_may_be_longer_than_a_lap, N_IDLE),
	UNIT_LOOP(records_of_an_ended_thread_keep_their_time, N_IDLE),
	UNIT_TEST(undatable_records_are_counted),
	UNIT_TEST(a_thread_that_writes_seldom_has_a_bound),
	UNIT_TEST(a_thread_that_overwrites_keeps_its_ring_dated),
	UNIT_LOOP(records_older_than_the_recorder_are_left_out, N_IDLE),
	UNIT_LOOP(a_new_thread_needs_no_note, N_IDLE),
	UNIT_LOOP(a_large_snapshot_is_dated_too, N_IDLE),
	UNIT_LOOP(a_capture_leaves_out_spans_that_began_before, N_IDLE),
	{NULL},
};

UNIT_MAIN("ring_notes", .set_up = setup, .timeout_s = 30, .tests = tests)
