/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a CUPTI of CUDA 11.8, which lacks every newer function: the collector records what it can.
 * CUPTI is a fake.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/host.h"
#include "tests/unit/unit.h"

START_TEST(kernels_and_graph_launches_are_recorded)
{
	struct fake_record kernel = host_kernel("k");
	const struct fake_record stream = {.kind = 37, .context = 1, .stream = 21, .priority = -1};
	uint32_t correlation;

	host_begin();
	host.fake->record(&stream);
	kernel.graph = 5;
	kernel.node = 77;
	correlation = host.fake->call("cuGraphLaunch", &kernel, 1);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_KERNEL, 0)->correlation, correlation);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_KERNEL, 0)->of.kernel.graph, 5);
	/* Only streams made from now on have records. */
	ck_assert_uint_eq(host_count(PTAP_DEVICE_STREAM), 1);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_STREAM, 0)->stream, 21);
	ck_assert_uint_eq(host.n_calls, 1);
	ck_assert_uint_eq(host.calls[0].graph, 0);
	ck_assert(!host.fake->is_subscribed());
	ck_assert_int_eq(host.fake->count_callbacks(), 0);
}
END_TEST

static void check_warned(const char *words)
{
	ck_assert_msg(
		strstr(host.warnings, words) != NULL, "\"%s\" is not in: %s", words, host.warnings);
}

START_TEST(missing_functions_are_reported)
{
	host_begin();
	host.fake->make_node(77, 0);
	host_end();
	ck_assert_int_eq(host.n_nodes, 0);
	check_warned(
		"fake_libcupti_old.so, of CUDA 11.8, has no cuptiActivityEnableAndDump: streams "
		"from before the recording have no priorities\n");
	check_warned("has no cuptiGetGraphNodeId: work of graphs is not joined with the spans that "
		     "made their nodes\n");
	ck_assert_ptr_null(strstr(host.warnings, "cuptiSubscribe_v2"));
}
END_TEST

START_TEST(another_profiler_is_reported_without_its_name)
{
	host.fake->take_slot("Kineto");
	ck_assert_int_eq(host_open(), 0);
	ck_assert_int_eq(host_arm(), -EBUSY);
	ck_assert_ptr_nonnull(strstr(host.why, "another profiler (Nsight, JAX, torch.profiler?)"));
	host_close();
}
END_TEST

START_TEST(waits_are_recorded_all_the_same)
{
	const struct fake_record wait = {.kind = 38, .type = 3, .stream = 13};

	host_set_option("ptap_cuda_sync=true");
	host_begin();
	host.fake->call("cuStreamSynchronize", &wait, 1);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_SYNC), 1);
}
END_TEST

START_TEST(counters_are_not_sampled)
{
	struct fake_record kernel = host_kernel("k");

	host_set_option("gpu_pm_sample_counters=sm__a");
	host_begin();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host_end();
	check_warned("CUDA 12.6 is the first that can");
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(kernels_and_graph_launches_are_recorded),
	UNIT_TEST(missing_functions_are_reported),
	UNIT_TEST(another_profiler_is_reported_without_its_name),
	UNIT_TEST(waits_are_recorded_all_the_same),
	UNIT_TEST(counters_are_not_sampled),
	{NULL},
};

UNIT_MAIN("old", .set_up = host_set_up_old, .tear_down = host_tear_down, .tests = tests)
