/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests buffers: one per thread or one for all, when all are in use, and when they come back at the
 * wrong time. CUPTI is a fake.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/host.h"
#include "tests/unit/unit.h"

#define N_THREADS 64
/* More than a buffer of 1 MiB holds. */
#define N_KERNELS 6000

static void launch(uint32_t n)
{
	struct fake_record kernel = host_kernel("k");

	for (uint32_t i = 0; i < n; i++)
		host.fake->record(&kernel);
}

static void *launch_a_few(void *unused)
{
	launch(3);
	return unused;
}

static void launch_on_threads(int n)
{
	pthread_t threads[N_THREADS];

	for (int i = 0; i < n; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, launch_a_few, NULL), 0);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

START_TEST(threads_that_are_gone_leave_their_records)
{
	host_begin();
	launch_on_threads(N_THREADS);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), N_THREADS * 3);
	ck_assert_uint_ge(host.stats.buffer_bytes, N_THREADS << 20);
}
END_TEST

START_TEST(all_threads_can_share_one_buffer)
{
	host.fake->set(FAKE_HAS_THREAD_BUFFERS, 0);
	host_begin();
	launch_on_threads(N_THREADS);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), N_THREADS * 3);
	ck_assert_uint_le(host.stats.buffer_bytes, 2 << 20);
}
END_TEST

START_TEST(full_buffers_are_read_while_it_records)
{
	host.fake->set(FAKE_HAS_WORKER, (uint64_t)_i);
	host_set_option("ptap_cuda_buffer_mb=4");
	host_begin();
	for (int i = 0; i < 10; i++) {
		launch(N_KERNELS);
		ck_assert_int_eq(host_poll(), 0);
	}
	if (!_i)
		ck_assert_uint_gt(host_count(PTAP_DEVICE_KERNEL), 5 * N_KERNELS);
	host_end();
	if (!_i)
		ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 10 * N_KERNELS);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL) + host_lost(PTAP_DEVICE_LOSS_DROPPED),
		10 * N_KERNELS);
}
END_TEST

START_TEST(a_refusal_is_counted)
{
	host_set_option("ptap_cuda_buffer_mb=1");
	host_begin();
	launch(2 * N_KERNELS);
	host_end();
	ck_assert_uint_gt(host_lost(PTAP_DEVICE_LOSS_DROPPED), 0);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL) + host_lost(PTAP_DEVICE_LOSS_DROPPED),
		2 * N_KERNELS);
	/* The server reports the loss; the collector does not warn. */
	ck_assert_str_eq(host.warnings, "");
}
END_TEST

START_TEST(the_next_capture_uses_the_new_buffer_size)
{
	host_set_option("ptap_cuda_buffer_mb=1");
	host_begin();
	launch(2 * N_KERNELS);
	host_end();
	host_forget();
	host_set_option("ptap_cuda_buffer_mb=8");
	host_begin();
	launch(2 * N_KERNELS);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 2 * N_KERNELS);
	host_forget();
	host_set_option("ptap_cuda_buffer_mb=1");
	host_begin();
	launch(2 * N_KERNELS);
	host_end();
	ck_assert_uint_gt(host_lost(PTAP_DEVICE_LOSS_DROPPED), 0);
}
END_TEST

START_TEST(a_version_that_needs_buffers_is_not_refused)
{
	host.fake->set(FAKE_VERSION, 24);
	host_set_option("ptap_cuda_buffer_mb=1");
	host_begin();
	launch(2 * N_KERNELS);
	host_end();
	/* The small buffers were in use as well, so nothing is lost. */
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 2 * N_KERNELS);
}
END_TEST

START_TEST(exhausted_buffers_are_reported)
{
	host.fake->set(FAKE_VERSION, 24);
	host_set_option("ptap_cuda_buffer_mb=1");
	host_begin();
	launch(20 * N_KERNELS);
	host_end();
	ck_assert_uint_lt(host_count(PTAP_DEVICE_KERNEL), 20 * N_KERNELS);
	ck_assert_uint_ge(host_count(PTAP_DEVICE_KERNEL) + host_lost(PTAP_DEVICE_LOSS_DROPPED),
		20 * N_KERNELS);
}
END_TEST

START_TEST(records_dropped_by_cupti_are_counted)
{
	host.fake->set(FAKE_DROPPED, 41);
	host_begin();
	host_end();
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_DROPPED), 41);
	ck_assert_uint_eq(host.stats.n_dropped, 41);
}
END_TEST

/* This thread already has a buffer, for the records of the streams that exist. */
static void *ask(void *unused)
{
	host.fake->ask_for_buffer();
	return unused;
}

static void ask_on_a_thread(void)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, ask, NULL), 0);
	pthread_join(thread, NULL);
}

START_TEST(cupti_may_return_buffers_after_the_capture)
{
	host_begin();
	ask_on_a_thread();
	host_end();
	ck_assert_int_eq(host.fake->count_buffers(), 1);
	host.fake->give_buffers_back();
	ck_assert_int_eq(host.fake->count_buffers(), 0);
	host_begin();
	launch(1);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
}
END_TEST

START_TEST(cupti_may_request_buffers_after_the_capture)
{
	host_begin();
	host_end();
	ask_on_a_thread();
	ck_assert_int_eq(host.fake->count_buffers(), 1);
	host.fake->give_buffers_back();
	host_begin();
	launch(1);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_LOSS), 0);
}
END_TEST

START_TEST(a_lock_of_cupti_over_its_callbacks_blocks_nobody)
{
	pthread_t threads[8];

	host.fake->set(FAKE_HOLDS_LOCK, 1);
	host_begin();
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, launch_a_few, NULL), 0);
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(host_poll(), 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 8 * 3);
}
END_TEST

START_TEST(a_graph_of_many_nodes_is_whole)
{
	enum {
		N_NODES = 10000
	};
	struct fake_record *nodes = calloc(N_NODES, sizeof *nodes);

	for (uint32_t i = 0; i < N_NODES; i++) {
		nodes[i] = host_kernel("node");
		nodes[i].graph = 3;
		nodes[i].node = 1000 + i;
	}
	host_begin();
	host.fake->call("cuGraphLaunch", nodes, N_NODES);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), N_NODES);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_KERNEL, N_NODES - 1)->of.kernel.graph_node,
		1000 + N_NODES - 1);
	free(nodes);
}
END_TEST

START_TEST(records_beyond_the_limit_are_counted)
{
	host_set_option("gpu_max_activity_api_events=5");
	host_begin();
	launch(12);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 5);
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_RECORDS), 7);
}
END_TEST

START_TEST(names_without_room_are_counted_by_kind)
{
	struct fake_record kernel = host_kernel("first");

	/* The names of the two devices count, too. None of these names is an annotation. */
	host.max_names = 3;
	host_set_option("gpu_max_annotation_strings=1");
	host_begin();
	host.fake->record(&kernel);
	kernel.name = "second";
	host.fake->record(&kernel);
	kernel.name = "first";
	host.fake->record(&kernel);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 3);
	ck_assert_str_eq(host_name(host_get(PTAP_DEVICE_KERNEL, 0)->name), "first");
	ck_assert_uint_eq(host_get(PTAP_DEVICE_KERNEL, 1)->name, 0);
	ck_assert_str_eq(host_name(host_get(PTAP_DEVICE_KERNEL, 2)->name), "first");
	ck_assert_uint_eq(host_get(PTAP_DEVICE_LOSS, 0)->of.loss.kind, PTAP_DEVICE_KERNEL);
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_NAMES), 1);
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_ANNOTATIONS), 0);
}
END_TEST

START_TEST(a_lost_reader_does_not_harm_the_next_capture)
{
	host_begin();
	launch(3);
	host.emit_result = -ECANCELED;
	ck_assert_int_lt(host_stop(), 0);
	host_drain();
	host_close();
	host.emit_result = 0;
	ck_assert(!host.fake->is_subscribed());
	host_forget();
	host_begin();
	launch(1);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(threads_that_are_gone_leave_their_records),
	UNIT_TEST(all_threads_can_share_one_buffer),
	UNIT_LOOP(full_buffers_are_read_while_it_records, 2),
	UNIT_TEST(a_refusal_is_counted),
	UNIT_TEST(the_next_capture_uses_the_new_buffer_size),
	UNIT_TEST(a_version_that_needs_buffers_is_not_refused),
	UNIT_TEST(exhausted_buffers_are_reported),
	UNIT_TEST(records_dropped_by_cupti_are_counted),
	UNIT_TEST(cupti_may_return_buffers_after_the_capture),
	UNIT_TEST(cupti_may_request_buffers_after_the_capture),
	UNIT_TEST(a_lock_of_cupti_over_its_callbacks_blocks_nobody),
	UNIT_TEST(a_graph_of_many_nodes_is_whole),
	UNIT_TEST(records_beyond_the_limit_are_counted),
	UNIT_TEST(names_without_room_are_counted_by_kind),
	UNIT_TEST(a_lost_reader_does_not_harm_the_next_capture),
	{NULL},
};

UNIT_MAIN("buffers", .set_up = host_set_up, .tear_down = host_tear_down, .tests = tests)
