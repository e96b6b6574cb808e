/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flight recorder that is on for days, over threads that write seldom: whatever a snapshot or a capture has of them has the
 * time that it had, and what cannot be dated is counted. Linked with -Wl,--wrap of clock_pair_read and guest_read_clock, which
 * are the clock, and of orders_begin and orders_end: nobody answers them here.
 */
#include "daemon/drain/ring_notes.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/assembly/assemble.h"
#include "daemon/assembly/spooler.h"
#include "daemon/drain/drain.h"
#include "daemon/recording/orders.h"
#include "daemon/recording/part_origin.h"
#include "daemon/recording/recorder.h"
#include "daemon/recording/recording_cut.h"
#include "daemon/recording/source.h"
#include "daemon/recording/spill.h"
#include "daemon/target/family.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/players.h"
#include "trace/space.h"

#define LAP (UINT64_C(1) << RECORD_START_BITS)
/* The 48 bits run over soon after it. */
#define START (5 * LAP - 1000)
#define GUEST_TID 4242u
/* Between two tends here: the server's come each second. */
#define TEND_TICKS (LAP >> 5)

/* --- the clock ------------------------------------------------------------------------------- */

static int ticks_per_ns;

static int64_t to_ns(uint64_t ticks)
{
	return (int64_t)(ticks / (uint64_t)ticks_per_ns);
}

struct clock_pair __wrap_clock_pair_read(int uses_ticks);
struct clock_pair __wrap_clock_pair_read(int uses_ticks)
{
	ck_assert_int_eq(uses_ticks, ticks_per_ns != 1);
	return (struct clock_pair){played.now, to_ns(played.now)};
}

uint64_t __wrap_guest_read_clock(uint32_t clock);
uint64_t __wrap_guest_read_clock(uint32_t clock)
{
	(void)clock;
	return played.now;
}

int __wrap_orders_begin(struct recording *r, enum arena_op op, struct diag *d);
int __wrap_orders_begin(struct recording *r, enum arena_op op, struct diag *d)
{
	(void)r;
	(void)op;
	(void)d;
	return 0;
}

int __wrap_orders_end(struct recording *r);
int __wrap_orders_end(struct recording *r)
{
	(void)r;
	return 0;
}

/* --- the server -------------------------------------------------------------------------------- */

static struct family family;
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
	struct diag d = DIAG_INIT;

	ticks_per_ns = n;
	atomic_store(&fixture.arena->clock, n == 1 ? ARENA_CLOCK_MONOTONIC : ARENA_CLOCK_TICKS);
	ck_assert_int_eq(recorder_start(&recorder, 1, 0, &d), 0);
	played.now += 600;
}

static void setup(void)
{
	fixture_take_long_way();
	fixture_open();
	fixture_overwrite(1);
	atomic_store(&fixture.arena->word, fixture_start(1));
	atomic_store(&fixture.arena->guest, GUEST_TID);
	played.now = START;
	family_init(&family, &fixture.target);
	recorder_init(&recorder, &family);
	players_start();
}

/* Each test is a process of its own: threads and maps go with it. */

static const uint64_t idle_ticks[] = {
	LAP / 4, LAP / 2, LAP - 3000, LAP, LAP + 3000, 3 * LAP, 40 * LAP};
#define N_IDLE (int)(sizeof idle_ticks / sizeof idle_ticks[0])

/* --- what is found ----------------------------------------------------------------------------- */

static unsigned n_seen[PLAYED_MAX];

static void ck_near(int64_t a, int64_t b, int n)
{
	ck_assert_msg(llabs(a - b) <= 2, "event %d: %lld, not %lld", n, (long long)a, (long long)b);
}

static void see(const struct plane *plane, const struct trace_event *e, int64_t origin_ns)
{
	int n = atoi(names_get(&plane->event_names, e->name));

	ck_assert_uint_eq(n_seen[n]++, 0);
	ck_near(origin_ns + e->start_ns, to_ns(played.events[n].start), n);
	ck_near(e->duration_ns, to_ns(played.events[n].end) - to_ns(played.events[n].start), n);
}

static uint64_t get_stat(const struct plane *plane, const char *name)
{
	const struct trace_stat *stat = plane_find_own_stat(plane, name);

	return stat ? stat->value.u64 : 0;
}

struct found {
	size_t n;
	uint64_t n_undated;
};

/* All of it has its time, and nothing was damaged. */
static struct found see_all(struct assemble_input *in)
{
	struct found found = {0, 0};
	const struct plane *plane;
	struct space *space;

	in->plane_name = PLANE_HOST;
	memset(n_seen, 0, sizeof n_seen);
	ck_assert_int_eq(space_new(&space), 0);
	ck_assert_int_eq(assemble_host_plane(in, space), 0);
	plane = space_find_plane(space, PLANE_HOST);
	for (size_t i = 0; i < plane->n_lines; i++) {
		const struct line *line = &plane->lines[i];

		for (size_t k = 0; k < line->n_events; k++)
			see(plane, &line->events[k], in->timeline->pairs[0].monotonic_ns);
		found.n += line->n_events + line->n_stored;
	}
	ck_assert_uint_eq(get_stat(plane, "ptap_lost_invalid"), 0);
	found.n_undated = get_stat(plane, "ptap_lost_undated");
	space_free(space);
	return found;
}

static struct found snapshot(uint64_t last_ms)
{
	struct recording part;
	struct found found;
	struct assemble_input in;

	played.now += 300;
	ck_assert_int_eq(recorder_cut(&recorder, last_ms, &part), 0);
	part_origin_set(&part);
	/* As recorder_snapshot.c and capture_trace.c; what is spooled is counted, its times are not looked at. */
	part.budget.window_bytes = recorder.recording.budget.window_bytes;
	ck_assert_int_eq(spill_rest(&part), 0);
	ck_assert(!part.budget.spooler || spooler_finish(part.budget.spooler) == 0);
	in = (struct assemble_input){
		.drain = &part.sources[0]->drain,
		.timeline = &part.timeline,
		.earliest_ticks = part.earliest_ticks,
		.start_ticks = part.start.ticks,
		.window_ticks = part.start.ticks,
		.stop_ticks = part.stop.ticks,
		.end_ns = recording_find_end(&part),
		.settled_ticks = UINT64_MAX,
		.uses_ticks = part.uses_ticks,
		.assembly = part.sources[0]->assembly,
	};
	part.sources[0]->assembly = NULL;
	found = see_all(&in);
	recording_part_deinit(&part);
	return found;
}

/* --- the tests --------------------------------------------------------------------------------- */

static const int rates[] = {1, 3};

static void each_thread_writes(void)
{
	for (int i = 0; i < N_PLAYERS; i++)
		players_play(i, play_begin_and_end);
}

/* One does from time to time what the others do not. */
static void be_idle(uint64_t ticks)
{
	pass(ticks / 3);
	players_play(0, play_point);
	pass(ticks - ticks / 3);
}

START_TEST(a_snapshot_dates_what_idle_threads_wrote)
{
	for (size_t rate = 0; rate < 2; rate++) {
		recorder_stop(&recorder);
		played.n = 0;
		turn_on(rates[rate]);
		each_thread_writes();
		be_idle(idle_ticks[_i]);
		players_play(1, play_begin_and_end);
		be_idle(idle_ticks[_i] / 2);
		players_play(0, play_begin_and_end);
		ck_assert_uint_eq(snapshot(0).n, (size_t)played.n);
		ck_assert_uint_eq(snapshot(1).n, 1);
		atomic_store(&fixture.arena->word, fixture_start(1));
	}
}
END_TEST

START_TEST(a_span_may_be_longer_than_a_lap)
{
	turn_on(3);
	players_play(0, play_begin);
	players_play(1, play_point);
	be_idle(idle_ticks[_i]);
	played.now += 77;
	players_play(0, play_end);
	ck_assert_uint_eq(snapshot(0).n, (size_t)played.n);
	be_idle(idle_ticks[_i]);
	ck_assert_uint_eq(snapshot(0).n, (size_t)played.n);
}
END_TEST

START_TEST(what_an_ended_thread_wrote_keeps_its_time)
{
	turn_on(3);
	players_play(0, play_begin_and_end);
	pass(idle_ticks[_i]);
	players_play(0, play_begin_and_end);
	players_stop(0);
	pass(idle_ticks[_i]);
	ck_assert_uint_eq(recorder.ended_of[0]->n, 1);
	/* It may get the ring. */
	players_play(1, play_begin_and_end);
	pass(100);
	ck_assert_uint_eq(snapshot(0).n, (size_t)played.n);
	pass(idle_ticks[_i]);
	ck_assert_uint_eq(snapshot(0).n, (size_t)played.n);
}
END_TEST

/* A server that is stopped, or whose machine is: it does not know when in that time something was written. */
START_TEST(what_cannot_be_dated_is_counted)
{
	int n_before;
	struct found found;

	turn_on(3);
	each_thread_writes();
	pass(TEND_TICKS);
	n_before = played.n;
	played.now += LAP / 4;
	each_thread_writes();
	played.now += 3 * LAP;
	tend();
	found = snapshot(0);
	ck_assert_uint_eq(found.n, 0);
	ck_assert_uint_eq(found.n_undated, (uint64_t)played.n);
	each_thread_writes();
	found = snapshot(0);
	ck_assert_uint_eq(found.n, N_PLAYERS);
	ck_assert_uint_eq(found.n_undated, (uint64_t)played.n - N_PLAYERS);
	/* Surely older than what is asked for: no loss. */
	played.now += LAP / 1024;
	found = snapshot(1);
	ck_assert_uint_eq(found.n + found.n_undated, 0);
	ck_assert_int_eq(n_before, N_PLAYERS);
}
END_TEST

/* As often as it is noted, for months: the oldest ones cannot be dated, the others can. */
START_TEST(a_thread_that_writes_seldom_has_a_bound)
{
	struct found found;

	turn_on(3);
	for (uint32_t i = 0; i < 2 * RING_NOTES_MAX; i++) {
		players_play(0, play_point);
		pass(RING_NOTES_INTERVAL_TICKS);
	}
	found = snapshot(0);
	ck_assert_uint_eq(found.n + found.n_undated, (uint64_t)played.n);
	ck_assert_uint_ge(found.n, RING_NOTES_MAX - 1);
	ck_assert_uint_gt(found.n_undated, 0);
}
END_TEST

static void write_many(void)
{
	for (int i = 0; i < 100; i++)
		play_point();
}

/* Whatever was noted of what is overwritten. */
START_TEST(a_thread_that_overwrites_has_all_that_is_there)
{
	struct found found;

	turn_on(3);
	for (int i = 0; i < (int)RING_NOTES_MAX * 3; i++) {
		if (played.n + 100 > PLAYED_MAX)
			played.n = 0;
		players_play(0, write_many);
		pass(RING_NOTES_INTERVAL_TICKS);
	}
	found = snapshot(0);
	ck_assert_uint_eq(found.n_undated, 0);
	ck_assert_uint_gt(found.n, FIXTURE_SLOTS / 2 / 16 * 15 - 32);
}
END_TEST

/* A recorder that is turned on in the middle of a capture: the rings hold what was written long before. */
START_TEST(what_is_older_than_the_recorder_is_not_in_it)
{
	struct found found;

	each_thread_writes();
	played.now += idle_ticks[_i];
	turn_on(3);
	found = snapshot(0);
	ck_assert_uint_eq(found.n + found.n_undated, 0);
	pass(LAP);
	players_play(0, play_begin_and_end);
	found = snapshot(0);
	ck_assert_uint_eq(found.n, 1);
	ck_assert_uint_eq(found.n_undated, 0);
}
END_TEST

/* A thread gets a ring that nobody had for long, or never. */
START_TEST(a_new_thread_needs_no_note)
{
	turn_on(3);
	players_play(0, play_begin_and_end);
	players_stop(0);
	pass(idle_ticks[_i]);
	played.now += TEND_TICKS;
	players_play(1, play_begin_and_end);
	players_play(2, play_begin_and_end);
	ck_assert_uint_eq(snapshot(0).n, (size_t)played.n);
}
END_TEST

static void write_a_mebibyte(void)
{
	while ((size_t)played.n * 2 < (1u << 20) / SLOT_BYTES)
		play_point();
}

/* Much is encoded by another thread, from slots that were given to it. */
START_TEST(a_large_snapshot_is_dated_too)
{
	fixture_close();
	fixture_take_long_way();
	fixture_open_sized(1, 4u << 20);
	atomic_store(&fixture.arena->word, fixture_start(1));
	atomic_store(&fixture.arena->guest, GUEST_TID);
	turn_on(3);
	players_play(0, write_a_mebibyte);
	be_idle(idle_ticks[_i]);
	ck_assert_uint_eq(snapshot(0).n, (size_t)played.n);
}
END_TEST

/* A capture over the recorder: spans that began before it are left out, however long before. */
START_TEST(a_capture_has_nothing_that_began_before)
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
	pass(idle_ticks[_i] - 3000);
	n_before = played.n;
	drain_init(&drain, &fixture.target, &budget);
	drain_begin_over(&drain, atomic_load(&fixture.arena->word), &error);
	timeline_init(&timeline, 1);
	timeline_add(&timeline, (struct clock_pair){played.now, to_ns(played.now)});
	in.start_ticks = in.window_ticks = played.now;
	/* As recording_begin(). */
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
	in.end_ns = to_ns(played.now) - timeline.pairs[0].monotonic_ns;
	timeline_add(&timeline, (struct clock_pair){played.now, to_ns(played.now)});
	ck_assert_uint_eq(see_all(&in).n, N_PLAYERS);
	for (int i = 0; i < n_before; i++)
		ck_assert_uint_eq(n_seen[i], 0);
	ck_assert_int_eq(error, 0);
	timeline_deinit(&timeline);
	drain_deinit(&drain);
	ck_assert_uint_eq(snapshot(0).n, (size_t)played.n);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ring_notes");
	TCase *tests = tcase_create("ring notes");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_set_timeout(tests, 30);
	tcase_add_loop_test(tests, a_snapshot_dates_what_idle_threads_wrote, 0, N_IDLE);
	tcase_add_loop_test(tests, a_span_may_be_longer_than_a_lap, 0, N_IDLE);
	tcase_add_loop_test(tests, what_an_ended_thread_wrote_keeps_its_time, 0, N_IDLE);
	tcase_add_test(tests, what_cannot_be_dated_is_counted);
	tcase_add_test(tests, a_thread_that_writes_seldom_has_a_bound);
	tcase_add_test(tests, a_thread_that_overwrites_has_all_that_is_there);
	tcase_add_loop_test(tests, what_is_older_than_the_recorder_is_not_in_it, 0, N_IDLE);
	tcase_add_loop_test(tests, a_new_thread_needs_no_note, 0, N_IDLE);
	tcase_add_loop_test(tests, a_large_snapshot_is_dated_too, 0, N_IDLE);
	tcase_add_loop_test(tests, a_capture_has_nothing_that_began_before, 0, N_IDLE);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
