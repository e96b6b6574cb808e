/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a flight recorder is read as before while a capture's last records are encoded.
 * Linked with -Wl,--wrap of assembly_spool, which takes as long as a test wants, and of the
 * functions that lap_fixture.h names.
 */
#include "daemon/pipeline/recording/recording.h"

#include <check.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "daemon/pipeline/assembly/assembly.h"
#include "daemon/pipeline/assembly/spooler.h"
#include "daemon/pipeline/recording/recording_start.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/lap_fixture.h"
#include "tests/unit/players.h"
#include "tests/unit/unit.h"

#define WINDOW_BYTES (16u << 10)
#define MAX_BYTES (UINT64_C(64) << 20)
#define N_WANTED 3

static struct recording recording;
static _Atomic int n_looks;
static _Atomic int64_t patience_ns; /* the longest time for which encoding waits for count_look() */

int __real_assembly_spool(
	struct assembly *as, struct track *track, const struct slot *slots, size_t n_slots);
int __wrap_assembly_spool(
	struct assembly *as, struct track *track, const struct slot *slots, size_t n_slots);
int __wrap_assembly_spool(
	struct assembly *as, struct track *track, const struct slot *slots, size_t n_slots)
{
	int64_t until_ns = monotonic_ns() + atomic_load(&patience_ns);

	while (atomic_load(&n_looks) < N_WANTED && monotonic_ns() < until_ns)
		usleep(100);
	return __real_assembly_spool(as, track, slots, n_slots);
}

static void count_look(void *context)
{
	ck_assert_ptr_eq(context, &recording);
	atomic_fetch_add(&n_looks, 1);
}

static void write_a_window(void)
{
	for (unsigned i = 0; i < WINDOW_BYTES / SLOT_BYTES / 2 + 1; i++)
		play_point();
}

/* Leaves slots that wait for the spooler. */
static void record(unsigned recorder_level)
{
	struct diag d = DIAG_INIT;

	laps.family.recorder_level = recorder_level;
	recording_init(&recording, &laps.family, MAX_BYTES, WINDOW_BYTES);
	ck_assert_int_eq(recording_arm(&recording, 1, &d), 0);
	ck_assert_int_eq(recording_begin(&recording, 1, &d), 0);
	ck_assert_int_eq(recording_start(&recording, 0), 0);
	players_play(0, write_a_window);
	played.now += 1000;
	recording_visit(&recording);
	ck_assert_ptr_nonnull(recording.spooler);
	ck_assert_int_eq(recording_end(&recording), 0);
}

static void finish(void)
{
	recording_finish(&recording, count_look, &recording);
	ck_assert_int_eq(recording.error, 0);
	ck_assert_uint_eq(spooler_get_held_bytes(recording.spooler), 0);
	recording_deinit(&recording);
}

START_TEST(a_flight_recorder_is_read_while_a_trace_is_encoded)
{
	atomic_store(&patience_ns, 20 * NS_PER_S);
	record(1);
	finish();
	ck_assert_int_ge(n_looks, N_WANTED);
}
END_TEST

START_TEST(recording_without_a_recorder_ends_at_once)
{
	atomic_store(&patience_ns, 20 * NS_PER_MS);
	record(0);
	finish();
	ck_assert_int_eq(n_looks, 0);
}
END_TEST

/* The recorder's content is kept for later clients: see recorder_end.h. */
START_TEST(a_recorder_of_an_ended_program_is_not_visited)
{
	atomic_store(&patience_ns, 20 * NS_PER_MS);
	record(1);
	atomic_store(&fixture.arena->guest, 0);
	finish();
	ck_assert_int_eq(n_looks, 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_flight_recorder_is_read_while_a_trace_is_encoded),
	UNIT_TEST(recording_without_a_recorder_ends_at_once),
	UNIT_TEST(a_recorder_of_an_ended_program_is_not_visited),
	{NULL},
};

UNIT_MAIN("recording_finish", .set_up = lap_setup, .timeout_s = 60, .tests = tests)
