/* SPDX-License-Identifier: Apache-2.0 */
/* Tests Monitor's answer for a program whose names are not valid text. */
#include "daemon/serve/calls/monitor_text.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/pipeline/usage/usage.h"
#include "daemon/target/target.h"
#include "tests/unit/unit.h"

static struct target target;
static char *text;
static const struct step_times *steps;

static void write_text(struct usage *usage)
{
	Tensorflow__ProfilerServiceMonitorResult result;
	size_t n = 0;
	struct monitor_text words = {
		.to = open_memstream(&text, &n),
		.target = &target,
		.usage = usage,
		.seconds = 2,
		.is_detailed = 1,
		.steps = steps,
	};

	ck_assert_ptr_nonnull(words.to);
	monitor_text_write(&words, &result);
	fclose(words.to);
}

/*
 * A string of protobuf that is not UTF-8 makes the whole answer unreadable; a line end would be a
 * fact of its own.
 */
START_TEST(names_are_made_printable)
{
	struct usage_reading readings[] = {{0, 0, 0}, {2000000000, 1000000000, 0}};
	struct usage_thread thread = {.tid = 43, .name = "cut \xc3", .v = readings, .n = 2};
	struct usage_thread *threads[] = {&thread};
	struct usage_sample samples[2] = {{.at_ns = 0}, {.at_ns = 2000000000}};
	struct usage usage = {.samples = samples, .n_samples = 2};

	usage.threads.v = threads;
	usage.threads.n = 1;
	target.pid = getpid();
	strcpy(target.name, "a\nCPU: \xff");
	write_text(&usage);
	ck_assert_ptr_nonnull(strstr(text, "Program: a?CPU: ? (pid "));
	ck_assert_ptr_nonnull(strstr(text, "\nThread cut ? (43): 50.0 % CPU\n"));
	free(text);
}
END_TEST

static void expect_steps(const struct step_times *times, const char *line, const char *last)
{
	struct usage_sample samples[2] = {{.at_ns = 0}, {.at_ns = 2000000000}};
	struct usage usage = {.samples = samples, .n_samples = 2};

	target.pid = getpid();
	steps = times;
	write_text(&usage);
	steps = NULL;
	ck_assert_msg(strstr(text, line), "%s", text);
	ck_assert_msg(strstr(text, last), "%s", text);
	free(text);
}

START_TEST(numbers_above_one_get_a_plural)
{
	const struct step_times one = {
		.n_steps = 1, .n_ended = 1, .total_ns = 1, .n_events = 1, .n_threads = 1};
	const struct step_times two = {
		.n_steps = 2, .n_ended = 2, .total_ns = 2, .n_events = 2, .n_threads = 2};
	const struct step_times long_one = {.n_steps = 1, .n_events = 1, .n_threads = 1};

	expect_steps(&one, "Annotations: 1 on 1 thread\n", ", 1 step\n");
	expect_steps(&long_one, "Step time: not known: 1 step began, and none has ended\n", "");
	expect_steps(&two, "Annotations: 2 on 2 threads\n", ", 2 steps\n");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(names_are_made_printable),
	UNIT_TEST(numbers_above_one_get_a_plural),
	{NULL},
};

UNIT_MAIN("monitor_words", .tests = tests)
