/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a clock so coarse that many annotations have the same time, like counters of processors
 * other than x86: each span is in the result once, within its own parent, at whatever moment a
 * thread's ring is read. Linked with -Wl,--wrap of guest_read_clock, which is the clock, and of
 * ring_copy_begin, before which a thread may go on.
 */
#include "daemon/pipeline/assembly/assemble.h"

#include <check.h>
#include <proftap/proftap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/target/ring_copy.h"
#include "daemon/target/timeline.h"
#include "tests/unit/drain_fixture.h"
#include "tests/unit/picture_fixture.h"
#include "tests/unit/unit.h"
#include "trace/model/space.h"

#define MAX_EVENTS 100000
#define MAX_NESTED 12
#define N_ROUNDS 300
#define START 1000

static const unsigned reads_per_tick[] = {1, 3, 40, 1000000};
static unsigned per_tick;
static unsigned n_reads;
static uint64_t now;

uint64_t __wrap_guest_read_clock(uint32_t clock);
uint64_t __wrap_guest_read_clock(uint32_t clock)
{
	(void)clock;
	now += ++n_reads % per_tick == 0;
	return now;
}

static void (*meanwhile)(void);

int __real_ring_copy_begin(
	struct ring_copy *c, const struct target *t, uint32_t i, struct ring_place from);
int __wrap_ring_copy_begin(
	struct ring_copy *c, const struct target *t, uint32_t i, struct ring_place from);
int __wrap_ring_copy_begin(
	struct ring_copy *c, const struct target *t, uint32_t i, struct ring_place from)
{
	if (meanwhile)
		meanwhile();
	return __real_ring_copy_begin(c, t, i, from);
}

/* --- the thread's acts: events whose names are their numbers ---------------------------------- */

static int parents[MAX_EVENTS]; /* -1: it has no parent */
static unsigned n_seen[MAX_EVENTS];
static int n_events;
static int nested[MAX_NESTED];
static int n_nested;

static const char *note_event(void)
{
	static char name[16];

	ck_assert_int_lt(n_events, MAX_EVENTS);
	parents[n_events] = n_nested ? nested[n_nested - 1] : -1;
	snprintf(name, sizeof name, "%d", n_events++);
	return name;
}

static void begin(void)
{
	ptap_begin_dyn(note_event());
	nested[n_nested++] = n_events - 1;
}

static void end(void)
{
	ptap_end();
	n_nested--;
}

static void play(int n)
{
	while (n--) {
		int choice = rand() % 8;

		if (choice < 3 && n_nested < MAX_NESTED)
			begin();
		else if (choice < 7 && n_nested)
			end();
		else
			ptap_instant_dyn(note_event());
	}
}

/* Makes the state that a thread has between the two stores by which a span ends. */
static void end_without_depth(void)
{
	uint32_t depth = atomic_load(&drained.ring->depth);

	if (!n_nested)
		return;
	end();
	atomic_store(&drained.ring->depth, depth);
}

static void start_anew(void)
{
	drain_deinit(&drained.drain);
	drained_init();
	drained_start();
	memset(n_seen, 0, sizeof n_seen);
	n_events = n_nested = 0;
	now = START;
}

static void setup(void)
{
	fixture_take_slow_path();
	drained_setup();
}

static void teardown(void)
{
	meanwhile = NULL;
	drained_teardown();
}

/* --- a capture -------------------------------------------------------------------------------- */

static void assemble(struct space **space)
{
	struct timeline timeline;
	struct assemble_input in = {
		.drain = &drained.drain,
		.timeline = &timeline,
		.earliest_ticks = START,
		.start_ticks = START,
		.window_ticks = START,
		.stop_ticks = now,
		.stop_ns = (int64_t)(now - START),
		.plane_name = PLANE_HOST,
	};

	timeline_init(&timeline, 0);
	ck_assert_int_eq(timeline_add(&timeline, (struct clock_pair){START, START}), 0);
	ck_assert_int_eq(space_new(space), 0);
	ck_assert_int_eq(assemble_host_plane(&in, *space), 0);
	timeline_deinit(&timeline);
}

static bool is_in(const struct trace_event *e, const struct trace_event *outer)
{
	return outer->start_ns <= e->start_ns &&
	       outer->start_ns + outer->duration_ns >= e->start_ns + e->duration_ns;
}

static bool is_same_time(const struct trace_event *a, const struct trace_event *b)
{
	return a->start_ns == b->start_ns && a->duration_ns == b->duration_ns;
}

static int get_number(const struct plane *plane, const struct trace_event *e)
{
	return atoi(names_get(&plane->event_names, e->name));
}

/*
 * Events of the same times must come in the order of their begins, so that the outer one is first.
 */
static void check_line(const struct plane *plane, const struct line *line)
{
	static const struct trace_event *found[MAX_EVENTS];
	const struct trace_event *before = NULL;

	for (size_t i = 0; i < line->n_events; i++) {
		const struct trace_event *e = &line->events[i];
		int n = get_number(plane, e);

		ck_assert_uint_eq(n_seen[n]++, 0);
		ck_assert(parents[n] < 0 || (n_seen[parents[n]] && is_in(e, found[parents[n]])));
		ck_assert(!before || !is_same_time(before, e) || get_number(plane, before) < n);
		found[n] = before = e;
	}
}

START_TEST(a_capture_has_each_event_once_in_its_parent)
{
	per_tick = reads_per_tick[_i];
	srand((unsigned)_i);
	for (int round = 0; round < N_ROUNDS; round++) {
		struct space *space;
		const struct plane *plane;

		start_anew();
		for (int i = rand() % 4; i; i--, drained_visit())
			play(rand() % 200);
		play(1 + rand() % 40);
		if (round % 3 == 0)
			end_without_depth();
		fixture_publish(0);
		drained_finish();
		assemble(&space);
		plane = space_find_plane(space, PLANE_HOST);
		ck_assert_uint_eq(plane->n_lines, 1);
		ck_assert_int_eq((int)plane->lines[0].n_events, n_events);
		check_line(plane, &plane->lines[0]);
		space_free(space);
	}
}
END_TEST

/* --- a flight recorder ------------------------------------------------------------------------ */

/* Returns whether the event is seen for the first time. */
static bool see(const struct slot *name)
{
	char text[16] = "";
	int n;

	memcpy(text, &name->word[1], sizeof name->word[1]);
	n = atoi(text);
	return slot_type(name->word[0]) == SLOT_NAME && n < n_events && n_seen[n]++ == 0;
}

static void see_all(const struct thread_log *log)
{
	unsigned n_wrong = 0;

	memset(n_seen, 0, (size_t)n_events * sizeof n_seen[0]);
	for (size_t at = 0; at < log->n_slots; at += 1 + record_n_extra(log->slots[at].word[0]))
		n_wrong += !see(&log->slots[at + 1]);
	for (uint32_t i = 0; i < log->n_open; i++)
		n_wrong += !see(log->open[i].slots);
	ck_assert_uint_eq(n_wrong, 0);
}

static void go_on(void)
{
	play(rand() % 6);
}

/*
 * Each span that was open when the picture began is in it once, whether or not it has ended since.
 */
START_TEST(a_picture_has_each_open_span_once)
{
	struct pictured p;

	per_tick = reads_per_tick[_i];
	srand((unsigned)_i);
	fixture_overwrite(true);
	start_anew();
	for (int round = 0; round < 3 * N_ROUNDS; round++) {
		int open_before[MAX_NESTED];
		int n_open = n_nested;

		memcpy(open_before, nested, sizeof open_before);
		meanwhile = round % 2 ? go_on : NULL;
		pictured_take(&p, 0, drained.drain.word);
		meanwhile = NULL;
		ck_assert(p.result == 0 || n_events == 0);
		see_all(&p.log);
		for (int i = 0; i < n_open; i++)
			ck_assert_uint_eq(n_seen[open_before[i]], 1);
		pictured_free(&p);
		play(rand() % 30);
	}
	ck_assert_uint_gt(fixture_head(0), 3 * FIXTURE_SLOTS);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(a_capture_has_each_event_once_in_its_parent,
		sizeof reads_per_tick / sizeof *reads_per_tick),
	UNIT_LOOP(
		a_picture_has_each_open_span_once, sizeof reads_per_tick / sizeof *reads_per_tick),
	{NULL},
};

UNIT_MAIN("coarse_clock", .set_up = setup, .tear_down = teardown, .tests = tests)
