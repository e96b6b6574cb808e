/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a capture: of one without anything to say, and of one whose clock went wrong. */
#include "daemon/recording/capture_warnings.h"

#include <check.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/profile_options.h"
#include "daemon/recording/capture.h"
#include "daemon/recording/capture_trace.h"
#include "daemon/recording/recording.h"
#include "daemon/target/target.h"
#include "trace/space.h"

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
	/* It lives, and its children are followed. */
	atomic_store(&target.arena->guest, 1);
	target.flags = ARENA_FOLLOW_FORK;
	request.level = trace.level = 1;
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

/* A pair each second up to |n|, of a counter of 1 GHz that is set back after three. */
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

START_TEST(a_counter_that_was_set_back_is_said)
{
	set_clock_back(5);
	ck_assert_str_eq(only_warning(),
		"the processor's counter was set back 4000 ms into the recording: later times are wrong");
}
END_TEST

START_TEST(a_part_says_what_was_in_its_window)
{
	set_clock_back(5);
	recording.window_ns = INT64_C(5500000000);
	ck_assert_uint_eq(count_warnings(), 0);
	recording.window_ns = INT64_C(4500000000);
	ck_assert_uint_eq(count_warnings(), 1);
}
END_TEST

START_TEST(a_counter_that_cannot_be_used_is_said)
{
	recording.uses_ticks = 0;
	ck_assert_str_eq(only_warning(),
		"times come from CLOCK_MONOTONIC: the processor's counter cannot be used here");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("capture warnings");
	TCase *tcase = tcase_create("clock");
	SRunner *runner;

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_clock_that_goes_well_is_not_mentioned);
	tcase_add_test(tcase, a_counter_that_was_set_back_is_said);
	tcase_add_test(tcase, a_part_says_what_was_in_its_window);
	tcase_add_test(tcase, a_counter_that_cannot_be_used_is_said);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
