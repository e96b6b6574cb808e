/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests captures and sessions of several days, with threads that write seldom: all records have the
 * right times, in memory, from the spool, and in parts. See lap_fixture.h.
 */
#include "daemon/target/era.h"

#include <check.h>

#include "base/diag.h"
#include "daemon/pipeline/assembly/async_carry.h"
#include "daemon/pipeline/assembly/spooler.h"
#include "daemon/pipeline/recording/continuous.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/recording_start.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/lap_fixture.h"
#include "tests/unit/players.h"
#include "tests/unit/unit.h"

/* The time between two visits here. The server visits at least every 10 ms. */
#define VISIT_TICKS (LAP >> 5)
/* The window is so small that slots go to the spool. */
#define WINDOW_BYTES (16u << 10)
#define MAX_BYTES (UINT64_C(64) << 20)
/* Each slice of a session gets a sixteenth of it. */
#define SESSION_BYTES (256u << 10)

static struct recording recording;
static struct continuous session;
static struct async_carries carries;
static bool is_session;

static void visit(void)
{
	recording_visit(&recording);
	/* On the test's clock the spooler has hours until the next visit. */
	while (recording.spooler && spooler_get_held_bytes(recording.spooler))
		spooler_wait(recording.spooler);
	if (is_session)
		continuous_visit(&session);
}

static void pass(uint64_t ticks)
{
	while (ticks > VISIT_TICKS) {
		played.now += VISIT_TICKS;
		ticks -= VISIT_TICKS;
		visit();
	}
	played.now += ticks;
	visit();
}

static void begin(int ticks_per_ns, uint64_t window_bytes)
{
	struct diag d = DIAG_INIT;

	lap_set_rate(ticks_per_ns);
	recording_init(&recording, &laps.family, MAX_BYTES, window_bytes);
	if (is_session)
		recording_set_unlimited(&recording);
	ck_assert_int_eq(recording_arm(&recording, 1, &d), 0);
	ck_assert_int_eq(recording_begin(&recording, 1, &d), 0);
	ck_assert_int_eq(recording_start(&recording, 0), 0);
	played.now += 600;
}

static void end(void)
{
	played.now += 300;
	ck_assert_int_eq(recording_end(&recording), 0);
}

static size_t end_and_see(void)
{
	size_t n;

	end();
	n = lap_see(&recording);
	recording_deinit(&recording);
	return n;
}

/* One thread writes from time to time, and the others do not. */
static void be_idle(uint64_t ticks)
{
	pass(ticks / 3);
	players_play(0, play_point);
	pass(ticks - ticks / 3);
}

static void write_for(uint64_t ticks)
{
	lap_each_writes();
	be_idle(ticks);
	players_play(1, play_begin_and_end);
	be_idle(ticks / 2);
	lap_each_writes();
}

START_TEST(a_capture_dates_all_that_it_has)
{
	static const int rates[] = {1, 3};

	for (size_t i = 0; i < 2; i++) {
		played.n = 0;
		begin(rates[i], 0);
		write_for(lap_idle_ticks[_i]);
		ck_assert_uint_eq(end_and_see(), (size_t)played.n);
		ck_assert_uint_eq(laps.n_undated, 0);
		atomic_store(&fixture.arena->word, fixture_start(1));
	}
}
END_TEST

/*
 * Records of the recorder's threads have times from a quarter of a lap before the capture's begin.
 */
START_TEST(a_capture_over_a_recorder_dates_all_that_it_has)
{
	fixture_overwrite(true);
	laps.family.recorder_level = 1;
	fixture.target.is_told_to_record = 1;
	begin(3, 0);
	write_for(lap_idle_ticks[_i]);
	ck_assert_uint_eq(end_and_see(), (size_t)played.n);
	ck_assert_uint_eq(laps.n_undated, 0);
}
END_TEST

static void write_some(void)
{
	for (int i = 0; i < 300; i++)
		play_point();
}

/*
 * Writes some records in each era, so that a piece for the spool begins in
 * one era and ends in another.
 */
static void write_much(uint64_t ticks)
{
	for (int i = 0; i < 9; i++) {
		players_play(i % N_PLAYERS, write_some);
		pass(ticks / 9);
	}
}

START_TEST(spooled_slots_are_dated)
{
	begin(3, WINDOW_BYTES);
	write_for(lap_idle_ticks[_i]);
	write_much(lap_idle_ticks[_i]);
	ck_assert_ptr_nonnull(recording.spooler);
	write_for(lap_idle_ticks[_i]);
	ck_assert_uint_eq(end_and_see(), (size_t)played.n);
	ck_assert_uint_eq(laps.n_undated, 0);
}
END_TEST

/* --- sessions ------------------------------------------------------------------------------ */

static size_t n_seen;

static void see_part(struct recording *part, void *context)
{
	(void)context;
	n_seen += lap_see(part);
}

static void cut(void)
{
	played.now += 100;
	ck_assert_int_eq(continuous_cut(&session, see_part, NULL), 0);
	while (!continuous_is_ready(&session))
		;
}

START_TEST(each_part_of_a_session_is_dated)
{
	is_session = true;
	begin(3, _i % 2 ? WINDOW_BYTES : 0);
	continuous_init(&session, &recording, SESSION_BYTES, &carries);
	write_for(lap_idle_ticks[_i]);
	cut();
	write_for(lap_idle_ticks[_i]);
	write_much(lap_idle_ticks[_i]);
	ck_assert_ptr_nonnull(session.slices);
	pass(lap_idle_ticks[_i]);
	cut();
	write_for(lap_idle_ticks[_i]);
	end();
	ck_assert_int_eq(continuous_end(&session, see_part, NULL), 0);
	ck_assert_uint_eq(n_seen, (size_t)played.n);
	continuous_deinit(&session);
	recording_deinit(&recording);
}
END_TEST

/* --- a server that stands still ------------------------------------------------------------ */

/*
 * The server, or its machine, stands still. Nobody knows when, and in which lap, a
 * record was written in that time.
 */
START_TEST(undatable_slots_are_counted)
{
	begin(3, _i ? WINDOW_BYTES : 0);
	lap_each_writes();
	be_idle(LAP);
	played.now += LAP / 8;
	lap_each_writes();
	players_play(0, write_some);
	players_play(0, write_some);
	played.now += 3 * LAP;
	pass(LAP);
	lap_each_writes();
	ck_assert_uint_eq(end_and_see(), 2 * N_PLAYERS + 1);
	ck_assert_uint_eq(laps.n_undated, N_PLAYERS + 600);
}
END_TEST

static void stand_still_at_last(void)
{
	begin(3, 0);
	lap_each_writes();
	visit();
	lap_each_writes();
	played.now += 3 * LAP;
}

START_TEST(undatable_slots_at_the_end_are_counted)
{
	stand_still_at_last();
	ck_assert_uint_eq(end_and_see(), N_PLAYERS);
	ck_assert_uint_eq(laps.n_undated, N_PLAYERS);
}
END_TEST

START_TEST(undatable_slots_at_a_cut_are_counted)
{
	is_session = true;
	continuous_init(&session, &recording, SESSION_BYTES, &carries);
	stand_still_at_last();
	cut();
	ck_assert_uint_eq(n_seen, N_PLAYERS);
	ck_assert_uint_eq(laps.n_undated, N_PLAYERS);
	continuous_deinit(&session);
}
END_TEST

/* After a gap of nearly half a lap all times are still known. */
START_TEST(a_server_that_stood_still_briefly_dates_all)
{
	begin(3, 0);
	be_idle(LAP);
	lap_each_writes();
	played.now += LAP / 2 - LAP / 16;
	lap_each_writes();
	visit();
	be_idle(LAP);
	ck_assert_uint_eq(end_and_see(), (size_t)played.n);
	ck_assert_uint_eq(laps.n_undated, 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(a_capture_dates_all_that_it_has, N_IDLE),
	UNIT_LOOP(a_capture_over_a_recorder_dates_all_that_it_has, N_IDLE),
	UNIT_LOOP(spooled_slots_are_dated, N_IDLE),
	UNIT_LOOP(each_part_of_a_session_is_dated, N_IDLE),
	UNIT_LOOP(undatable_slots_are_counted, 2),
	UNIT_TEST(undatable_slots_at_the_end_are_counted),
	UNIT_TEST(undatable_slots_at_a_cut_are_counted),
	UNIT_TEST(a_server_that_stood_still_briefly_dates_all),
	{NULL},
};

UNIT_MAIN("long_capture", .set_up = lap_setup, .timeout_s = 30, .tests = tests)
