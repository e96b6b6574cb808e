/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests calls into CUDA as spans, and nodes of graphs, also at the begin and the end of a capture.
 * CUPTI is a fake.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/host.h"
#include "tests/unit/unit.h"

#define N_THREADS 8
#define N_LAUNCHES 500

START_TEST(only_calls_that_use_the_device_or_wait_are_recorded)
{
	host_begin();
	ck_assert_int_lt(host.fake->count_callbacks(), 40);
	host.fake->call("cuLaunchKernel", NULL, 0);
	host.fake->call("cuLaunchKernel_ptsz", NULL, 0);
	host.fake->call("cuMemcpyHtoDAsync_v2", NULL, 0);
	host.fake->call("cuStreamSynchronize", NULL, 0);
	host.fake->call("cuDeviceGetName", NULL, 0);
	host.fake->call("cudaLaunchKernel_v7000", NULL, 0);
	host_end();
	ck_assert_uint_eq(host.n_calls, 4);
	ck_assert_uint_eq(host.stats.n_calls, 4);
}
END_TEST

START_TEST(all_calls_are_there_on_request)
{
	struct fake_record kernel = host_kernel("k");

	host_set_option("ptap_cuda_api=true");
	host_begin();
	host.fake->begin_call("cudaLaunchKernel_v7000", NULL);
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host.fake->end_call();
	host.fake->call("cuDeviceGetName", NULL, 0);
	host_end();
	ck_assert_uint_eq(host.n_calls, 2);
	ck_assert_str_eq(host_name(host.calls[0].name), "cudaLaunchKernel_v7000");
	/* Both calls have one correlation; the kernel is joined to the inner one. */
	ck_assert_uint_eq(host.calls[0].correlation, 0);
	ck_assert_uint_eq(host.calls[1].correlation, host_get(PTAP_DEVICE_KERNEL, 0)->correlation);
	ck_assert_int_eq(host.fake->count_callbacks(), 0);
}
END_TEST

START_TEST(an_end_without_a_beginning_ends_nothing)
{
	host.fake->begin_call("cuLaunchKernel", NULL);
	host_begin();
	host.fake->end_call();
	host.fake->call("cuLaunchKernel", NULL, 0);
	host_end();
	ck_assert_uint_eq(host.n_calls, 1);
	ck_assert_int_eq(host.calls[0].n_ended, 1);
}
END_TEST

START_TEST(a_call_that_returns_after_the_capture_is_ended)
{
	host.fake->set(FAKE_ENDS_CALLS_LATE, 1);
	host_begin();
	host.fake->begin_call("cuStreamSynchronize", NULL);
	host_end();
	host.fake->end_call();
	ck_assert_uint_eq(host.n_calls, 1);
	ck_assert_int_eq(host.calls[0].n_ended, 1);
	ck_assert_int_eq(host.n_unknown_ends, 0);
}
END_TEST

START_TEST(calls_beyond_the_limit_are_counted)
{
	host_set_option("gpu_max_callback_api_events=3");
	host_begin();
	for (int i = 0; i < 10; i++)
		host.fake->call("cuLaunchKernel", NULL, 0);
	host_end();
	ck_assert_uint_eq(host.n_calls, 3);
	ck_assert_int_eq(host.calls[2].n_ended, 1);
	ck_assert_int_eq(host.n_unknown_ends, 0);
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_CALLS), 7);
	ck_assert_uint_eq(host.stats.n_calls, 3);
}
END_TEST

static const char *const no_limits[] = {
	"gpu_max_callback_api_events=0", "gpu_max_callback_api_events=-1"};

START_TEST(limits_of_zero_or_less_do_not_limit_calls)
{
	host_set_option(no_limits[_i]);
	host_begin();
	for (int i = 0; i < 10; i++)
		host.fake->call("cuLaunchKernel", NULL, 0);
	host_end();
	ck_assert_uint_eq(host.n_calls, 10);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_LOSS), 0);
}
END_TEST

START_TEST(only_the_first_devices_are_recorded_on_request)
{
	struct fake_record second = host_kernel("on the second");

	second.device = 1;
	second.context = 2;
	host_set_option("gpu_num_chips_to_profile_per_task=1");
	host_begin();
	host.fake->call("cuLaunchKernel", &second, 1);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 0);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_INFO), 1);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_STREAM), 2);
	ck_assert_uint_eq(host.n_calls, 0);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_LOSS), 0);
}
END_TEST

START_TEST(a_call_has_the_device_and_context_of_its_kernel)
{
	struct fake_record second = host_kernel("on the second");

	second.device = 1;
	second.context = 2;
	host_begin();
	host.fake->call("cuLaunchKernel", &second, 1);
	host.fake->call("cuLaunchKernel", &second, 1);
	host_end();
	ck_assert_uint_eq(host.calls[1].device, 1);
	ck_assert_uint_eq(host.calls[1].context, 2);
	/* The collector queries the device once. */
	ck_assert_int_le(host.fake->count("cuptiGetDeviceId"), 1);
}
END_TEST

START_TEST(a_launch_of_a_graph_names_the_graph)
{
	struct fake_record nodes[2] = {host_kernel("a"), host_kernel("b")};

	nodes[0].graph = nodes[1].graph = 12;
	nodes[0].node = 100;
	nodes[1].node = 101;
	host_begin();
	host.fake->call("cuGraphLaunch", nodes, 2);
	host_end();
	ck_assert_uint_eq(host.calls[0].flags, PTAP_CALL_IS_GRAPH_LAUNCH);
	ck_assert_uint_eq(host.calls[0].graph, 12);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 2);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_KERNEL, 1)->of.kernel.graph, 12);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_KERNEL, 1)->of.kernel.graph_node, 101);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_KERNEL, 1)->correlation, host.calls[0].correlation);
}
END_TEST

START_TEST(nodes_are_noted_where_they_are_made)
{
	host_begin();
	host.fake->make_node(100, 0);
	host.fake->make_node(200, 100);
	host_end();
	host.fake->make_node(300, 0);
	ck_assert_int_eq(host.n_nodes, 2);
	ck_assert_uint_eq(host.nodes[0].node, 100);
	ck_assert_uint_eq(host.nodes[0].original, 0);
	ck_assert_uint_eq(host.nodes[1].node, 200);
	ck_assert_uint_eq(host.nodes[1].original, 100);
	ck_assert(pthread_equal(host.nodes[0].thread, pthread_self()));
}
END_TEST

/* Launches run ahead of the device: all kernels come after the last launch. */
static void launch_ahead(uint32_t n, struct fake_record *node)
{
	for (uint32_t i = 0; i < n; i++)
		host.fake->call("cuGraphLaunch", node, 0);
	for (uint32_t i = 0; i < n; i++)
		host.fake->record(node);
}

START_TEST(missing_graph_correlations_are_taken_from_the_launches)
{
	struct fake_record node = host_kernel("node");
	uintptr_t graph = 12;

	node.graph = (uint32_t)graph;
	node.node = 100;
	node.correlation = 77;
	host.fake->set(FAKE_VERSION, 130000);
	host_begin();
	host_end();
	host_forget();
	host_begin();
	for (int i = 0; i < 3; i++) {
		host.fake->begin_call("cuGraphLaunch", &graph);
		host.fake->end_call();
	}
	launch_ahead(0, &node);
	for (int i = 0; i < 3; i++)
		host.fake->record(&node);
	/* The launch of this node was not seen. */
	node.graph = 13;
	host.fake->record(&node);
	host_end();
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(
			host_get(PTAP_DEVICE_KERNEL, i)->correlation, host.calls[i].correlation);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_KERNEL, 3)->correlation, 0);
}
END_TEST

START_TEST(graph_correlations_of_a_correct_cupti_are_kept)
{
	struct fake_record node = host_kernel("node");

	node.graph = 12;
	node.correlation = 77;
	host.fake->set(FAKE_VERSION, _i ? 130101 : 130000);
	if (_i) {
		host_begin();
		host_end();
		host_forget();
	}
	host_begin();
	host.fake->record(&node);
	host_end();
	ck_assert_uint_eq(host_get(PTAP_DEVICE_KERNEL, 0)->correlation, 77);
}
END_TEST

static void *launch_often(void *unused)
{
	struct fake_record kernel = host_kernel("k");

	for (int i = 0; i < N_LAUNCHES; i++)
		host.fake->call("cuLaunchKernel", &kernel, 1);
	return unused;
}

START_TEST(many_threads_call_at_the_same_time)
{
	pthread_t threads[N_THREADS];

	host_begin();
	for (int i = 0; i < N_THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, launch_often, NULL), 0);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), N_THREADS * N_LAUNCHES);
	ck_assert_uint_eq(host.n_calls, N_THREADS * N_LAUNCHES);
	for (uint32_t i = 0; i < host.n_calls; i++)
		ck_assert_int_eq(host.calls[i].n_ended, 1);
}
END_TEST

START_TEST(captures_begin_and_end_while_threads_call)
{
	pthread_t threads[N_THREADS];

	host.fake->set(FAKE_HAS_WORKER, 1);
	for (int i = 0; i < N_THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, launch_often, NULL), 0);
	for (int i = 0; i < 5; i++) {
		host_begin();
		host_poll();
		host_end();
	}
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_INVALID), 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(only_calls_that_use_the_device_or_wait_are_recorded),
	UNIT_TEST(all_calls_are_there_on_request),
	UNIT_TEST(an_end_without_a_beginning_ends_nothing),
	UNIT_TEST(a_call_that_returns_after_the_capture_is_ended),
	UNIT_TEST(calls_beyond_the_limit_are_counted),
	UNIT_LOOP(limits_of_zero_or_less_do_not_limit_calls, 2),
	UNIT_TEST(only_the_first_devices_are_recorded_on_request),
	UNIT_TEST(a_call_has_the_device_and_context_of_its_kernel),
	UNIT_TEST(a_launch_of_a_graph_names_the_graph),
	UNIT_TEST(nodes_are_noted_where_they_are_made),
	UNIT_TEST(missing_graph_correlations_are_taken_from_the_launches),
	UNIT_LOOP(graph_correlations_of_a_correct_cupti_are_kept, 2),
	UNIT_TEST(many_threads_call_at_the_same_time),
	UNIT_TEST(captures_begin_and_end_while_threads_call),
	{NULL},
};

UNIT_MAIN("calls", .set_up = host_set_up, .tear_down = host_tear_down, .tests = tests)
