/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the warnings of captures: of one without a loss, and of one whose clock goes wrong. */
#include "daemon/pipeline/recording/capture_warnings.h"

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/profile_options.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/pipeline/recording/capture_request.h"
#include "daemon/pipeline/recording/capture_trace.h"
#include "daemon/pipeline/recording/orders.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"
#include "tests/unit/unit.h"
#include "trace/model/space.h"

static struct capture_request request;
static struct recording recording;
static struct target target;
static struct capture_result result;
static struct capture_trace trace;

static void set_up(void)
{
	memset(&recording, 0, sizeof recording);
	memset(&trace, 0, sizeof trace);
	recording.uses_ticks = 1;
	timeline_init(&recording.timeline, 1);
	target.arena = aligned_alloc(_Alignof(struct arena), sizeof *target.arena);
	ck_assert_ptr_nonnull(target.arena);
	memset(target.arena, 0, sizeof *target.arena);
	/* The program is alive, and its children are followed. */
	atomic_store(&target.arena->guest, 1);
	target.flags = ARENA_FOLLOW_FORK;
	request.options.host_tracer_level = trace.level = 1;
	trace.request = &request;
	trace.target = &target;
	trace.recording = &recording;
	ck_assert_int_eq(space_new(&trace.space), 0);
}

static void tear_down(void)
{
	space_free(trace.space);
	timeline_deinit(&recording.timeline);
	free(target.arena);
}

/*
 * Adds a pair for each second up to |n|. The counter runs at 1 GHz, and is
 * set back after three seconds.
 */
static void set_clock_back(int n)
{
	for (int i = 0; i <= n; i++) {
		struct clock_pair pair = {
			(uint64_t)(i > 3 ? i : i + 1000) * 1000000000u, i * INT64_C(1000000000)};

		ck_assert_int_eq(timeline_add(&recording.timeline, pair), 0);
	}
}

static uint32_t count_warnings(void)
{
	ck_assert_int_eq(capture_warnings_add(&trace, &result), 0);
	return trace.space->warnings.n_texts;
}

static const char *only_warning(void)
{
	ck_assert_uint_eq(count_warnings(), 1);
	return names_get(&trace.space->warnings, 0);
}

START_TEST(a_clock_that_goes_well_is_not_mentioned)
{
	set_clock_back(3);
	ck_assert_uint_eq(count_warnings(), 0);
}
END_TEST

START_TEST(a_counter_that_was_set_back_is_reported)
{
	set_clock_back(5);
	ck_assert_str_eq(only_warning(),
		"the processor's counter was set back 4000 ms into the recording: later times are wrong");
}
END_TEST

START_TEST(a_part_has_warnings_of_its_window_only)
{
	set_clock_back(5);
	recording.window_ns = INT64_C(5500000000);
	ck_assert_uint_eq(count_warnings(), 0);
	recording.window_ns = INT64_C(4500000000);
	ck_assert_uint_eq(count_warnings(), 1);
}
END_TEST

START_TEST(a_counter_that_cannot_be_used_is_reported)
{
	recording.uses_ticks = 0;
	ck_assert_str_eq(only_warning(),
		"times come from CLOCK_MONOTONIC: the processor's counter cannot be used here");
}
END_TEST

/* A stopped process continues after HALT_MS, and then answers. */
#define HALT_MS 300

static void *go_on(void *unused)
{
	(void)unused;
	usleep(HALT_MS * 1000);
	kill(target.pid, SIGCONT);
	atomic_store(&target.arena->ack, atomic_load(&target.arena->command));
	return NULL;
}

static void halt_child(void)
{
	int status;

	target.pid = fork();
	if (!target.pid)
		for (;;)
			pause();
	ck_assert_int_gt(target.pid, 0);
	kill(target.pid, SIGSTOP);
	ck_assert_int_eq(waitpid(target.pid, &status, WUNTRACED), target.pid);
	ck_assert(WIFSTOPPED(status));
}

START_TEST(a_stop_before_the_answer_to_the_start_is_reported)
{
	struct source source = {.target = &target, .state = SOURCE_STARTING};
	struct source *sources[] = {&source};
	struct diag d = DIAG_INIT;
	struct family family;
	pthread_t thread;

	family_init(&family, &target);
	recording.family = &family;
	recording.sources = sources;
	recording.n_sources = 1;
	recording.asked = &family.capture_level;
	recording.level = 1;
	halt_child();
	recording.start.monotonic_ns = monotonic_ns();
	recording_poll_halt(&recording);
	ck_assert_int_eq(pthread_create(&thread, NULL, go_on, NULL), 0);
	ck_assert_int_eq(orders_begin(&recording, ARENA_OP_START, &d), 0);
	pthread_join(thread, NULL);
	kill(target.pid, SIGKILL);
	recording.stop.monotonic_ns = monotonic_ns() + NS_PER_S;
	ck_assert_int_ge(recording.halted_ns, HALT_MS * NS_PER_MS * 9 / 10);
	ck_assert_ptr_nonnull(
		strstr(only_warning(), "was stopped (SIGSTOP or a debugger) for about"));
	family_deinit(&family);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_clock_that_goes_well_is_not_mentioned),
	UNIT_TEST(a_counter_that_was_set_back_is_reported),
	UNIT_TEST(a_part_has_warnings_of_its_window_only),
	UNIT_TEST(a_counter_that_cannot_be_used_is_reported),
	UNIT_TEST(a_stop_before_the_answer_to_the_start_is_reported),
	{NULL},
};

UNIT_MAIN("capture warnings", .set_up = set_up, .tear_down = tear_down, .tests = tests)
