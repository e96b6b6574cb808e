/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests when the server calls a program's collectors, and which of their answers it accepts. The
 * program is this test. Linked with -Wl,--wrap=mapped_search_begin.
 */
#include "daemon/pipeline/recording/collecting.h"

#include <check.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/pipeline/recording/collectors.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/target/collect.h"
#include "daemon/target/family.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"
#include "trace/model/space.h"

#define LIBRARY_LINE "7f00-7f01 r-xp 0 08:01 1 /usr/lib/libcuda.so.1\n"
#define OTHER_LINE "7f00-7f01 r-xp 0 08:01 1 /usr/lib/libc.so.6\n"

static struct drain_budget budget;
static struct source *source;
static struct source *sources[1];
static struct recording recording;
static struct arena_collect *words;
static bool is_forbidden;

int __real_mapped_search_begin(
	struct mapped_search *l, const char *root, pid_t pid, const char *name);
int __wrap_mapped_search_begin(
	struct mapped_search *l, const char *root, pid_t pid, const char *name);

/* Root may read all maps, so the test itself refuses them. */
int __wrap_mapped_search_begin(
	struct mapped_search *l, const char *root, pid_t pid, const char *name)
{
	return is_forbidden ? -EACCES : __real_mapped_search_begin(l, root, pid, name);
}

static void map(const char *text)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/maps", (int)getpid());
	fake_root_write(path, text);
}

static void open_source(void)
{
	ck_assert_int_eq(source_new(&fixture.target, &budget, &source), 0);
	sources[0] = source;
}

static void setup(void)
{
	fixture_open();
	fake_root_make();
	map(OTHER_LINE);
	budget = (struct drain_budget){.max_bytes = 1 << 20};
	fixture.target.has_collect = 1; /* the collectors' words are mapped from the start */
	atomic_store(&fixture.arena->guest, 1);
	words = &fixture.arena->collect;
	open_source();
	memset(&recording, 0, sizeof recording);
	recording.sources = sources;
	recording.n_sources = 1;
	recording.collectors.root = fake_root;
	recording.collectors.options = "a=1\n";
	is_forbidden = false;
}

static void teardown(void)
{
	source_free(source);
	fake_root_remove();
	fixture_close();
}

/* Makes the next check of the mappings due, and visits. */
static void visit(void)
{
	source->collecting.due_ns = 0;
	collecting_visit(source, &recording.collectors);
}

static uint32_t get_state(void)
{
	return atomic_load(&words->state);
}

static void set_state(enum arena_collect_state state)
{
	atomic_store(&words->state, state);
}

/* Acknowledges like the control thread. */
static void acknowledge(void)
{
	atomic_store(&fixture.arena->ack, fixture.target.command);
}

static void ask(void)
{
	source->collecting.state = COLLECTING_WANTS;
	collecting_visit(source, &recording.collectors);
	ck_assert_int_eq(source->collecting.state, COLLECTING_ASKED);
	acknowledge();
	set_state(ARENA_COLLECT_TAKEN);
}

/* Returns the warnings in a trace, one on each line. */
static const char *warnings(void)
{
	static char all[8192];
	struct space *space;
	size_t n = 0;

	ck_assert_int_eq(space_new(&space), 0);
	ck_assert_int_eq(collectors_add_warnings(&recording, space), 0);
	all[0] = '\0';
	for (size_t i = 0; i < space->warnings.n_texts; i++)
		n += (size_t)snprintf(
			all + n, sizeof all - n, "%s\n", names_get(&space->warnings, (uint32_t)i));
	space_free(space);
	return all;
}

START_TEST(asks_when_the_library_is_mapped)
{
	collectors_arm(&recording);
	ck_assert_int_eq(get_state(), ARENA_COLLECT_NONE);
	ck_assert(!collectors_see_device(&recording));
	map(OTHER_LINE LIBRARY_LINE);
	collectors_arm(&recording);
	ck_assert_int_eq(get_state(), ARENA_COLLECT_NONE); /* a quarter of a second is not over */
	visit();
	ck_assert_int_eq(source->collecting.state, COLLECTING_WANTS);
	ck_assert(collectors_see_device(&recording));
	visit();
	ck_assert_int_eq(get_state(), ARENA_COLLECT_ASKED);
	ck_assert_int_eq(atomic_load(&fixture.arena->op), ARENA_OP_COLLECT);
	ck_assert_str_eq(words->options, "a=1\n");
	ck_assert(collectors_are_beginning(&recording));
}
END_TEST

START_TEST(asks_at_once_where_it_is_mapped_already)
{
	map(LIBRARY_LINE);
	collectors_arm(&recording);
	ck_assert_int_eq(get_state(), ARENA_COLLECT_ASKED);
}
END_TEST

START_TEST(asks_at_once_if_the_program_has_its_own_collector)
{
	source_free(source);
	atomic_store(&fixture.target.flags, ARENA_COLLECTS);
	open_source();
	collectors_arm(&recording);
	ck_assert_int_eq(get_state(), ARENA_COLLECT_ASKED);
	ck_assert(!collectors_see_device(&recording));
}
END_TEST

/*
 * If the program's maps may not be read, its collectors are called only
 * if the machine has a driver.
 */
START_TEST(asks_unreadable_programs_where_there_may_be_a_device)
{
	is_forbidden = true;
	if (_i)
		fake_root_write("/dev/nvidiactl", "");
	collectors_arm(&recording);
	visit();
	ck_assert_int_eq(get_state(), _i ? ARENA_COLLECT_ASKED : ARENA_COLLECT_NONE);
	ck_assert_str_eq(warnings(), "");
}
END_TEST

START_TEST(asks_nobody_without_options)
{
	map(LIBRARY_LINE);
	recording.collectors.options = NULL;
	collectors_arm(&recording);
	collectors_visit(&recording);
	collectors_end(&recording);
	ck_assert_int_eq(get_state(), ARENA_COLLECT_NONE);
	ck_assert_uint_eq(fixture.target.command, 0);
}
END_TEST

START_TEST(one_command_at_a_time)
{
	target_send(&fixture.target, ARENA_OP_PREPARE, 1);
	source->collecting.state = COLLECTING_WANTS;
	visit();
	ck_assert_int_eq(get_state(), ARENA_COLLECT_NONE);
	acknowledge();
	visit();
	ck_assert_int_eq(get_state(), ARENA_COLLECT_ASKED);
}
END_TEST

START_TEST(waits_for_collectors_of_an_earlier_recording)
{
	set_state(ARENA_COLLECT_ENDING);
	source->collecting.state = COLLECTING_WANTS;
	visit();
	ck_assert(collectors_are_beginning(&recording));
	set_state(ARENA_COLLECT_DONE);
	visit();
	ck_assert_int_eq(get_state(), ARENA_COLLECT_ASKED);
}
END_TEST

START_TEST(does_not_wait_for_an_abandoned_collector)
{
	set_state(ARENA_COLLECT_RUNNING);
	collect_give_up(&fixture.target);
	ck_assert_int_eq(get_state(), ARENA_COLLECT_ENDING);
	source->collecting.state = COLLECTING_WANTS;
	visit();
	ck_assert_int_eq(source->collecting.state, COLLECTING_OVER);
	ck_assert_ptr_nonnull(
		strstr(warnings(), "gpu: devices are not recorded: the collectors of"));
	/* The collector has returned. */
	set_state(ARENA_COLLECT_DONE);
	source->collecting.state = COLLECTING_WANTS;
	visit();
	ck_assert_int_eq(get_state(), ARENA_COLLECT_ASKED);
	ck_assert_int_eq(atomic_load(&words->is_cancelled), 0);
}
END_TEST

START_TEST(withdraws_a_request_that_was_not_taken)
{
	source->collecting.state = COLLECTING_WANTS;
	visit();
	ck_assert_int_eq(get_state(), ARENA_COLLECT_ASKED);
	collectors_end(&recording);
	ck_assert_int_eq(get_state(), ARENA_COLLECT_NONE);
	ck_assert_str_eq(warnings(), "");
}
END_TEST

static bool is_not_wanted(void *context)
{
	(void)context;
	return 0;
}

START_TEST(stops_waiting_when_the_trace_is_not_wanted)
{
	ask();
	recording.collectors.are_wanted = is_not_wanted;
	collectors_end(&recording);
	ck_assert_int_eq(get_state(), ARENA_COLLECT_ENDING);
	ck_assert_int_eq(atomic_load(&words->is_cancelled), 1);
	ck_assert_str_eq(warnings(), "");
}
END_TEST

START_TEST(collector_silent_for_two_seconds_is_not_waited_for_again)
{
	int64_t before;

	ask();
	memcpy(words->who, "cuda", 5);
	atomic_store(&words->step, ARENA_COLLECT_OPEN);
	source->collecting.asked_ns -= COLLECTORS_PATIENCE_NS + 1;
	before = monotonic_ns();
	collectors_end(&recording);
	ck_assert_int_lt(monotonic_ns() - before, NS_PER_S);
	ck_assert_ptr_nonnull(strstr(warnings(), "gpu: cuda (open) has not returned within two"));
	ck_assert_int_eq(atomic_load(&words->is_cancelled), 1);
}
END_TEST

START_TEST(reports_a_late_begin_of_the_collector)
{
	ask();
	set_state(ARENA_COLLECT_RUNNING);
	recording.start.monotonic_ns = 1000 * NS_PER_MS;
	atomic_store(&words->running_since_ns, 1001 * NS_PER_MS);
	collectors_visit(&recording);
	ck_assert_str_eq(warnings(), "");
	source->collecting.since_ns = 0;
	atomic_store(&words->running_since_ns, 1250 * NS_PER_MS);
	collectors_visit(&recording);
	ck_assert_str_eq(warnings(), "gpu: recorded from 250.0 ms after the start on\n");
}
END_TEST

/* --- handing on records before a part is cut ------------------------------------------------ */

static void hand_on(void)
{
	atomic_store(&words->handed_on, atomic_load(&words->hand_on));
}

static void run(void)
{
	ask();
	set_state(ARENA_COLLECT_RUNNING);
}

START_TEST(recording_collector_hands_on_complete_records)
{
	run();
	for (uint32_t i = 1; i < 4; i++) {
		collectors_hand_on(&recording);
		ck_assert_uint_eq(atomic_load(&words->hand_on), i);
		recording.collectors.handed_on_by_ns = INT64_MAX;
		ck_assert_int_eq(collectors_have_handed_on(&recording), 0);
		hand_on();
		ck_assert_int_eq(collectors_have_handed_on(&recording), 1);
	}
}
END_TEST

START_TEST(idle_collector_is_not_waited_for)
{
	static const uint32_t states[] = {
		ARENA_COLLECT_TAKEN, ARENA_COLLECT_ENDING, ARENA_COLLECT_DONE, 77};

	collectors_hand_on(&recording);
	recording.collectors.handed_on_by_ns = INT64_MAX;
	ck_assert_int_eq(collectors_have_handed_on(&recording), 1);
	ask();
	atomic_store(&words->state, states[_i]);
	collectors_hand_on(&recording);
	recording.collectors.handed_on_by_ns = INT64_MAX;
	ck_assert_int_eq(collectors_have_handed_on(&recording), 1);
}
END_TEST

START_TEST(hanging_collector_costs_its_timeout_once)
{
	run();
	collectors_hand_on(&recording);
	ck_assert_int_eq(collectors_have_handed_on(&recording), 0);
	while (!collectors_have_handed_on(&recording))
		ck_assert_int_lt(monotonic_ns(),
			recording.collectors.handed_on_by_ns + COLLECTORS_PATIENCE_NS);
	collectors_hand_on(&recording);
	recording.collectors.handed_on_by_ns = INT64_MAX;
	ck_assert_int_eq(collectors_have_handed_on(&recording), 1);
	/* The collector has returned. */
	hand_on();
	collectors_hand_on(&recording);
	ck_assert_int_eq(collectors_have_handed_on(&recording), 0);
}
END_TEST

START_TEST(the_dead_are_not_waited_for)
{
	run();
	collectors_hand_on(&recording);
	recording.collectors.handed_on_by_ns = INT64_MAX;
	atomic_store(&fixture.arena->guest, FUTEX_OWNER_DIED);
	ck_assert_int_eq(collectors_have_handed_on(&recording), 1);
}
END_TEST

/* --- a program that writes arbitrary words -------------------------------------------------- */

START_TEST(an_impossible_time_is_no_late_begin)
{
	ask();
	set_state(ARENA_COLLECT_RUNNING);
	recording.start.monotonic_ns = 1000 * NS_PER_MS;
	atomic_store(&words->running_since_ns, INT64_MIN);
	collectors_visit(&recording);
	ck_assert_str_eq(warnings(), "");
}
END_TEST

static void say(const char *text, size_t n, uint32_t n_said)
{
	memcpy(words->said, text, n);
	atomic_store(&words->n_said, n_said);
	set_state(ARENA_COLLECT_DONE);
	collectors_end(&recording);
}

START_TEST(messages_become_printable_lines)
{
	const char *said = "one\x1b[31m\ntwo\r\n\nthree \xff";

	ask();
	say(said, strlen(said), (uint32_t)strlen(said));
	ck_assert_str_eq(warnings(), "gpu: one?[31m\ngpu: two?\ngpu: three ?\n");
	ck_assert_int_eq(get_state(), ARENA_COLLECT_NONE);
}
END_TEST

START_TEST(text_beyond_the_room_is_not_read)
{
	ask();
	memset(words->said, 'x', sizeof words->said);
	say("", 0, UINT32_MAX);
	ck_assert_uint_lt(strlen(warnings()), sizeof words->said + 16);
}
END_TEST

START_TEST(many_sentences_are_counted)
{
	char said[60];

	for (size_t i = 0; i < sizeof said; i += 2) {
		said[i] = (char)('A' + i / 2);
		said[i + 1] = '\n';
	}
	ask();
	say(said, sizeof said, sizeof said);
	ck_assert_ptr_nonnull(strstr(warnings(), "gpu: P\ngpu: further sentences: 14\n"));
}
END_TEST

START_TEST(an_impossible_ring_is_ignored)
{
	ask();
	atomic_store(&words->ring, FIXTURE_RINGS + 1);
	ck_assert_uint_eq(collect_find_ring(&fixture.target), 0);
	atomic_store(&words->ring, FIXTURE_RINGS);
	ck_assert_uint_eq(collect_find_ring(&fixture.target), FIXTURE_RINGS);
}
END_TEST

/* The server does not wait, because none of these states is a valid answer. */
START_TEST(an_impossible_state_ends_the_wait)
{
	static const uint32_t states[] = {ARENA_COLLECT_NONE, 77, UINT32_MAX};
	int64_t before = monotonic_ns();

	ask();
	atomic_store(&words->state, states[_i]);
	atomic_store(&words->step, 99);
	collectors_end(&recording);
	ck_assert_int_lt(monotonic_ns() - before, NS_PER_S);
	ck_assert_str_eq(warnings(), "");
	ck_assert_int_eq(get_state(), ARENA_COLLECT_NONE);
}
END_TEST

START_TEST(a_name_without_an_end_is_cut)
{
	ask();
	memset(words->who, 'w', sizeof words->who);
	atomic_store(&words->step, ARENA_COLLECT_STOP);
	source->collecting.asked_ns -= COLLECTORS_PATIENCE_NS + 1;
	collectors_end(&recording);
	ck_assert_ptr_nonnull(
		strstr(warnings(), "gpu: wwwwwwwwwwwwwwwwwwwwwwwwwwwwwww (stop) has"));
}
END_TEST

START_TEST(an_impossible_step_has_no_name)
{
	ask();
	atomic_store(&words->step, _i ? 99 : ARENA_COLLECT_NOWHERE);
	source->collecting.asked_ns -= COLLECTORS_PATIENCE_NS + 1;
	collectors_end(&recording);
	ck_assert_ptr_nonnull(strstr(warnings(), "gpu: the program's collector has not returned"));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(asks_when_the_library_is_mapped),
	UNIT_TEST(asks_at_once_where_it_is_mapped_already),
	UNIT_TEST(asks_at_once_if_the_program_has_its_own_collector),
	UNIT_LOOP(asks_unreadable_programs_where_there_may_be_a_device, 2),
	UNIT_TEST(asks_nobody_without_options),
	UNIT_TEST(one_command_at_a_time),
	UNIT_TEST(waits_for_collectors_of_an_earlier_recording),
	UNIT_TEST(does_not_wait_for_an_abandoned_collector),
	UNIT_TEST(withdraws_a_request_that_was_not_taken),
	UNIT_TEST(stops_waiting_when_the_trace_is_not_wanted),
	UNIT_TEST(collector_silent_for_two_seconds_is_not_waited_for_again),
	UNIT_TEST(reports_a_late_begin_of_the_collector),
	UNIT_TEST(recording_collector_hands_on_complete_records),
	UNIT_LOOP(idle_collector_is_not_waited_for, 4),
	UNIT_TEST(hanging_collector_costs_its_timeout_once),
	UNIT_TEST(the_dead_are_not_waited_for),
	UNIT_TEST(an_impossible_time_is_no_late_begin),
	UNIT_TEST(messages_become_printable_lines),
	UNIT_TEST(text_beyond_the_room_is_not_read),
	UNIT_TEST(many_sentences_are_counted),
	UNIT_TEST(an_impossible_ring_is_ignored),
	UNIT_LOOP(an_impossible_state_ends_the_wait, 3),
	UNIT_TEST(a_name_without_an_end_is_cut),
	UNIT_LOOP(an_impossible_step_has_no_name, 2),
	{NULL},
};

UNIT_MAIN("collecting", .set_up = setup, .tear_down = teardown, .tests = tests)
