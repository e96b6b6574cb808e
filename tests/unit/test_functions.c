/* SPDX-License-Identifier: Apache-2.0 */
/* Tests CPU samples on their way from the server's table to the sums of a report. */
#include "trace/report/functions.h"

#include <check.h>
#include <string.h>

#include "base/grow.h"
#include "daemon/pipeline/assembly/sample_lines.h"
#include "daemon/pipeline/samples/samples.h"
#include "tests/unit/digest_fixture.h"
#include "tests/unit/unit.h"

#define START_NS 1000
#define STOP_NS 2000
#define PERIOD_NS 10

static struct sampled_process process;
static struct functions functions;

static void set_up(void)
{
	digest_fixture_open();
	plane_set_int(plane, "process_id", 7);
	process = (struct sampled_process){.pid = 7};
	process.threads = calloc(2, sizeof *process.threads);
	process.threads[0] = (struct sampled_thread){42, "kernel's name"};
	process.threads[1] = (struct sampled_thread){43, "other"};
	process.n_threads = 2;
}

static void tear_down(void)
{
	functions_deinit(&functions);
	sampled_process_deinit(&process);
	digest_fixture_close();
}

/* Returns the stack of the functions of |text|, which are single letters, the outermost first. */
static uint32_t make_stack(const char *text)
{
	uint32_t stack = STACKS_NONE;

	for (; *text; text++) {
		char name[2] = {*text, '\0'};
		uint32_t frame =
			stacks_take_frame(&process.stacks, STACKS_NONE, (unsigned char)*text);

		ck_assert_int_eq(stacks_name(&process.stacks, frame, name, name), 0);
		stack = stacks_take(&process.stacks, stack, frame);
	}
	return stack;
}

static void sample(uint32_t thread, int64_t since_start_ns, const char *stack)
{
	ck_assert_int_eq(grow(&process.v, &process.n_allocated, process.n + 1), 0);
	process.v[process.n++] = (struct cpu_sample){.at_ns = START_NS + since_start_ns,
		.thread = thread,
		.stack = make_stack(stack),
		.cpu = 3};
}

/* The thread 0 waited with that stack, which stands for |n_waits| such times. */
static void wait_with(int64_t since_start_ns, int64_t ns, const char *stack, uint32_t n_waits)
{
	ck_assert_int_eq(
		grow(&process.intervals, &process.n_intervals_allocated, process.n_intervals + 1),
		0);
	process.intervals[process.n_intervals++] = (struct thread_interval){
		.start_ns = START_NS + since_start_ns,
		.end_ns = START_NS + since_start_ns + ns,
		.stack = make_stack(stack),
		.n_waits = n_waits,
		.state = THREAD_BLOCKED,
	};
}

static void sum_up(void)
{
	const struct sample_lines_input in = {.start_ns = START_NS,
		.stop_ns = STOP_NS,
		.period_ns = PERIOD_NS,
		.plane_name = PLANE_HOST PLANE_SAMPLES_SUFFIX,
		.process_name = "train",
		.host = plane};

	ck_assert_int_eq(sample_lines_add(&in, &process, space), 0);
	digest_space();
	ck_assert_int_eq(functions_make(digest, &functions, NULL), 0);
}

static const char *get_function(const struct function_row *row)
{
	return names_get(&view->stacks.texts, row->function);
}

static void expect_row(
	const struct function_row *row, const char *name, uint64_t n_self, uint64_t n_total)
{
	ck_assert_str_eq(get_function(row), name);
	ck_assert_uint_eq(row->n_self, n_self);
	ck_assert_uint_eq(row->n_total, n_total);
}

START_TEST(functions_have_their_own_samples_and_those_of_their_callees)
{
	sample(0, 30, "mab");
	sample(0, 10, "ma");
	sample(1, 20, "ma");
	sum_up();
	ck_assert_uint_eq(functions.ran.n_samples, 3);
	ck_assert_int_eq(functions.period_ns, PERIOD_NS);
	ck_assert_uint_eq(functions.ran.n, 3);
	expect_row(&functions.ran.v[0], "a", 2, 3);
	expect_row(&functions.ran.v[1], "b", 1, 1);
	expect_row(&functions.ran.v[2], "m", 0, 3);
}
END_TEST

START_TEST(a_recursive_function_counts_once_in_a_total)
{
	sample(0, 10, "maaa");
	sum_up();
	expect_row(&functions.ran.v[0], "a", 1, 1);
}
END_TEST

START_TEST(samples_outside_of_the_recording_are_left_out)
{
	sample(0, -1, "m");
	sample(0, STOP_NS - START_NS + 1, "m");
	sample(0, 5, "x");
	sum_up();
	ck_assert_uint_eq(functions.ran.n_samples, 1);
	expect_row(&functions.ran.v[0], "x", 1, 1);
}
END_TEST

START_TEST(a_process_without_samples_has_no_plane)
{
	size_t n_before = space->n_planes;

	add("outer", 0, 100, 0);
	sum_up();
	ck_assert_uint_eq(space->n_planes, n_before);
	ck_assert_uint_eq(functions.ran.n, 0);
}
END_TEST

/* --- spans -------------------------------------------------------------------------------- */

static const struct span_functions *find_inside(const char *name)
{
	for (size_t i = 0; i < functions.n_spans; i++)
		if (strcmp(name_of(functions.spans[i].name), name) == 0)
			return &functions.spans[i];
	return NULL;
}

START_TEST(samples_count_for_each_span_that_is_open_on_their_thread)
{
	add("outer", 0, 100, 0);
	add("inner", 20, 20, 0);
	sample(0, 10, "ma");
	sample(0, 20, "mb");
	sample(0, 39, "mb");
	sample(0, 40, "ma");
	sample(0, 100, "mc");
	sample(1, 30, "mz");
	sum_up();
	ck_assert_uint_eq(functions.n_spans, 2);
	ck_assert_uint_eq(find_inside("outer")->ran.n_samples, 4);
	ck_assert_uint_eq(find_inside("inner")->ran.n_samples, 2);
	ck_assert_uint_eq(find_inside("inner")->ran.n, 1);
	ck_assert_str_eq(get_function(&find_inside("inner")->ran.v[0]), "b");
	ck_assert_uint_eq(find_inside("inner")->ran.v[0].n_self, 2);
}
END_TEST

START_TEST(a_sample_counts_once_for_spans_of_one_name)
{
	add("again", 0, 100, 0);
	add("again", 10, 50, 0);
	sample(0, 20, "m");
	sum_up();
	ck_assert_uint_eq(find_inside("again")->ran.n_samples, 1);
}
END_TEST

START_TEST(waits_are_sums_of_their_own)
{
	add("outer", 0, 100, 0);
	sample(0, 5, "ma");
	wait_with(10, 20, "mr", 1);
	wait_with(40, 10, "mr", 3);
	sum_up();
	ck_assert_uint_eq(functions.ran.n_samples, 1);
	ck_assert_uint_eq(functions.waited.n_samples, 2);
	ck_assert_int_eq(functions.waited.ns, 20 + 3 * 10);
	ck_assert_str_eq(get_function(&functions.waited.v[0]), "r");
	ck_assert_int_eq(functions.waited.v[0].self_ns, 50);
	ck_assert_int_eq(find_inside("outer")->waited.ns, 50);
}
END_TEST

/* --- the view ------------------------------------------------------------------------------- */

START_TEST(threads_have_the_names_that_the_program_gave_them)
{
	add("outer", 0, 100, 0);
	sample(0, 10, "m");
	sample(1, 10, "m");
	sum_up();
	ck_assert_uint_eq(view->n_samples, 2);
	ck_assert_str_eq(view->samples[0].name, "main");
	ck_assert_str_eq(view->samples[1].name, "other");
	ck_assert_uint_eq(view->n_tracks, 1);
	ck_assert_uint_eq(view->samples[0].origin, view->tracks[0].origin);
}
END_TEST

START_TEST(stacks_that_cannot_be_read_are_noted)
{
	sample(0, 10, "m");
	sum_up();
	digest_fixture_close();
	functions_deinit(&functions);
	digest_fixture_open();
	plane_set_int(plane, "process_id", 7);
	plane = space_add_plane(space, 9, PLANE_HOST PLANE_SAMPLES_SUFFIX);
	plane_set_bytes(plane, PLANE_STACKS, "\x12\x7f", 2);
	digest_space();
	ck_assert_uint_eq(view->notes.n_texts, 1);
	ck_assert_ptr_nonnull(strstr(view->notes.texts[0], "cannot be read"));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(functions_have_their_own_samples_and_those_of_their_callees),
	UNIT_TEST(a_recursive_function_counts_once_in_a_total),
	UNIT_TEST(samples_outside_of_the_recording_are_left_out),
	UNIT_TEST(a_process_without_samples_has_no_plane),
	UNIT_TEST(samples_count_for_each_span_that_is_open_on_their_thread),
	UNIT_TEST(a_sample_counts_once_for_spans_of_one_name),
	UNIT_TEST(waits_are_sums_of_their_own),
	UNIT_TEST(threads_have_the_names_that_the_program_gave_them),
	UNIT_TEST(stacks_that_cannot_be_read_are_noted),
	{NULL},
};

UNIT_MAIN("functions", .set_up = set_up, .tear_down = tear_down, .tests = tests)
