/* SPDX-License-Identifier: Apache-2.0 */
/* What collectors recorded of devices, as planes: lines, names, times, stats and types. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/device_fixture.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"

#define GPU "/device:GPU:0"

static struct thread_log *app;
static struct thread_log *collector;

static void setup(void)
{
	log_open();
	app = log_add(100, "main");
	collector = log_add(101, "ptap-collect");
	device_put_anchors(collector);
}

static uint64_t make_id(uint64_t correlation)
{
	return ((uint64_t)fixture.target.pid << 32) + correlation;
}

static void expect_uint(const struct plane *plane, const struct trace_event *event,
	const char *name, uint64_t value)
{
	const struct trace_stat *stat = device_stat(plane, event, name);

	ck_assert_msg(stat, "no %s", name);
	ck_assert_int_eq(stat->type, STAT_UINT64);
	ck_assert_uint_eq(stat->value.u64, value);
}

START_TEST(puts_a_kernel_on_its_stream)
{
	const struct plane *plane;
	const struct trace_event *event;

	device_put_launch(app, "cuLaunchKernel", 42, 1000, 1500, 0);
	device_put_kernel(collector, "saxpy", 42, 2000, 5000);
	log_assemble();
	ck_assert_uint_eq(logs.space->n_planes, 2);
	plane = device_plane(GPU);
	ck_assert_int_eq(plane->id, 0);
	ck_assert_uint_eq(plane->n_lines, 1);
	ck_assert_int_eq(plane->lines[0].id, 7);
	ck_assert_str_eq(plane->lines[0].name, "Stream #7(Compute)");
	event = device_event(plane, &plane->lines[0], "saxpy");
	ck_assert_int_eq(event->start_ns, 2000);
	ck_assert_int_eq(event->duration_ns, 3000);
	expect_uint(plane, event, "correlation_id", make_id(42));
	ck_assert_str_eq(device_text(plane, event, "context_id"), "$$1");
	ck_assert_str_eq(device_text(plane, event, "kernel_details"),
		"regs:32 static_shared:0 dynamic_shared:0 grid:16,1,1 block:256,1,1 occ_pct:0");
	ck_assert_ptr_null(device_text(plane, event, "tf_op"));
}
END_TEST

START_TEST(puts_a_launch_on_its_threads_line)
{
	const struct trace_event *event;

	device_put_launch(app, "cuLaunchKernel", 42, 1000, 1500, 0);
	log_assemble();
	ck_assert_uint_eq(logs.plane->n_lines, 1);
	event = log_event(0, 0);
	ck_assert_str_eq(log_event_name(0, 0), "cuLaunchKernel");
	ck_assert_int_eq(event->start_ns, 1000);
	ck_assert_int_eq(event->duration_ns, 500);
	expect_uint(logs.plane, event, "correlation_id", make_id(42));
	expect_uint(logs.plane, event, "device_id", 0);
	ck_assert_str_eq(device_text(logs.plane, event, "context_id"), "$$1");
	ck_assert_ptr_null(device_stat(logs.plane, event, "cuda_graph_orig_id"));
}
END_TEST

START_TEST(names_a_kernel_by_the_outermost_span_around_its_launch)
{
	const struct plane *plane;
	const struct trace_event *event;

	device_put_launch(app, "cuLaunchKernel", 42, 1000, 1500, 2);
	device_put_span(app, "inner", 900, 1600, 1);
	device_put_span(app, "outer", 800, 1700, 0);
	device_put_kernel(collector, "saxpy", 42, 2000, 5000);
	log_assemble();
	plane = device_plane(GPU);
	event = device_event(plane, &plane->lines[0], "saxpy");
	ck_assert_str_eq(device_text(plane, event, "tf_op"), "outer");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("devices");
	TCase *tcase = tcase_create("planes");
	SRunner *runner;

	tcase_add_checked_fixture(tcase, setup, log_close);
	tcase_add_test(tcase, puts_a_kernel_on_its_stream);
	tcase_add_test(tcase, puts_a_launch_on_its_threads_line);
	tcase_add_test(tcase, names_a_kernel_by_the_outermost_span_around_its_launch);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
