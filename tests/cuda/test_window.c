/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a capture takes the records of its window, in whatever order they come, and counts
 * work that has not ended. The CUPTI is a fake.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/host.h"
#include "tests/unit/unit.h"

static uint32_t before; /* the correlation of the launch in launch_backwards() */

START_TEST(unended_kernel_is_counted_as_lost_and_not_recorded)
{
	struct fake_record kernel = host_kernel("long");

	host_begin();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host.fake->hold_device();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_INCOMPLETE), 1);
	ck_assert_uint_eq(host.stats.n_dropped, 1);
}
END_TEST

START_TEST(kernel_that_ends_while_the_capture_settles_is_whole)
{
	struct fake_record kernel = host_kernel("long");

	host_begin();
	host.fake->hold_device();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host_poll();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 0);
	host.fake->let_device_go();
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_INCOMPLETE), 0);
}
END_TEST

/* A session flushes before it cuts a part off its recording; unfinished work comes later. */
START_TEST(a_flush_hands_on_what_is_complete)
{
	struct fake_record kernel = host_kernel("long");

	host_begin();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	ck_assert_int_eq(host_poll(), 0);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 0);
	ck_assert_int_eq(host_flush(), 0);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	host.fake->hold_device();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	ck_assert_int_eq(host_flush(), 0);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	host.fake->let_device_go();
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 2);
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_INCOMPLETE), 0);
}
END_TEST

static void end_all(uint32_t context)
{
	(void)context;
	host.fake->let_device_go();
}

START_TEST(devices_are_waited_for_on_request)
{
	struct fake_record kernel = host_kernel("long");

	host_set_option("ptap_cuda_sync_at_stop=true");
	host.at_synchronize(end_all);
	host_begin();
	host.fake->hold_device();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host_end();
	host.at_synchronize(NULL);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_INCOMPLETE), 0);
}
END_TEST

START_TEST(losses_are_counted_by_kind)
{
	struct fake_record kernel = host_kernel("long");
	const struct fake_record copies[] = {
		{.kind = 1, .stream = 9, .direction = 1, .from = 2, .to = 3, .bytes = 4096},
		{.kind = 1, .stream = 9, .direction = 1, .from = 2, .to = 3, .bytes = 4096},
	};
	uint64_t n[PTAP_DEVICE_KINDS] = {0};

	host_begin();
	host.fake->hold_device();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host.fake->call("cuMemcpyHtoDAsync_v2", copies, 2);
	host_end();
	for (size_t i = 0; i < host_count(PTAP_DEVICE_LOSS); i++) {
		const struct ptap_device_record *loss = host_get(PTAP_DEVICE_LOSS, i);

		ck_assert_uint_eq(loss->of.loss.reason, PTAP_DEVICE_LOSS_INCOMPLETE);
		n[loss->of.loss.kind] += loss->of.loss.n;
	}
	ck_assert_uint_eq(n[PTAP_DEVICE_KERNEL], 1);
	ck_assert_uint_eq(n[PTAP_DEVICE_COPY], 2);
	ck_assert_uint_eq(host.stats.n_dropped, 3);
}
END_TEST

/* The kernel ends after the stop and before the last flush. */
START_TEST(kernel_across_the_end_is_whole)
{
	struct fake_record kernel = host_kernel("long");

	host_begin();
	kernel.start_ns = host.fake->now_ns();
	kernel.end_ns = kernel.start_ns + 3600000000000;
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_KERNEL, 0)->start_ns, kernel.start_ns);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_KERNEL, 0)->end_ns, kernel.end_ns);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_LOSS), 0);
}
END_TEST

/* The kernel ends in the next capture, which does not have it either. */
START_TEST(abandoned_kernel_is_in_no_later_capture)
{
	struct fake_record kernel = host_kernel("long");

	host_begin();
	host.fake->hold_device();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host_end();
	host_forget();
	host_begin();
	host.fake->let_device_go();
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 0);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_LOSS), 0);
}
END_TEST

START_TEST(kernels_outside_the_window_are_left_out)
{
	struct fake_record kernel = host_kernel("old");

	kernel.start_ns = host.fake->now_ns() - 2000000000;
	kernel.end_ns = kernel.start_ns + 10;
	host_begin();
	host.fake->record(&kernel);
	/* A kernel that runs across the begin of the capture. */
	kernel.name = "across";
	kernel.end_ns = host.fake->now_ns() + 10;
	host.fake->record(&kernel);
	kernel.name = "new";
	kernel.start_ns = host.fake->now_ns() + 3600000000000;
	kernel.end_ns = kernel.start_ns + 10;
	host.fake->record(&kernel);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	ck_assert_ptr_nonnull(host_find_name(PTAP_DEVICE_KERNEL, "across"));
	ck_assert_uint_eq(host_count(PTAP_DEVICE_LOSS), 0);
}
END_TEST

/*
 * The kernel launched first runs last, but its record comes first, from the buffer of this thread.
 */
static void *launch_backwards(void *unused)
{
	struct fake_record work[] = {host_kernel("c"), host_kernel("b"), host_kernel("a")};
	uint64_t now_ns = host.fake->now_ns();

	for (uint64_t i = 0; i < 3; i++) {
		work[i].start_ns = now_ns + 3 - i;
		work[i].end_ns = work[i].start_ns + 10;
	}
	before = host.fake->call("cuLaunchKernel", work, 3);
	return unused;
}

START_TEST(records_come_in_any_order)
{
	struct fake_record kernel = host_kernel("main");
	uint32_t correlation;
	pthread_t thread;

	host_begin();
	/*
	 * The kernel's record is complete before the call that launched it has ended, and is handed
	 * on.
	 */
	correlation = host.fake->begin_call("cuLaunchKernel", NULL);
	kernel.correlation = correlation;
	host.fake->record(&kernel);
	host.fake->give_buffers_back();
	ck_assert_int_eq(host_poll(), 0);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	ck_assert_int_eq(host.calls[0].n_ended, 0);
	host.fake->end_call();
	ck_assert_int_eq(pthread_create(&thread, NULL, launch_backwards, NULL), 0);
	pthread_join(thread, NULL);
	host_end();
	ck_assert_int_eq(host.calls[0].n_ended, 1);
	ck_assert_uint_eq(host.calls[0].correlation, correlation);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 4);
	ck_assert_uint_eq(host_find_name(PTAP_DEVICE_KERNEL, "main")->correlation, correlation);
	ck_assert_uint_eq(host_find_name(PTAP_DEVICE_KERNEL, "a")->correlation, before);
	ck_assert_uint_gt(host_find_name(PTAP_DEVICE_KERNEL, "c")->start_ns,
		host_find_name(PTAP_DEVICE_KERNEL, "a")->start_ns);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_LOSS), 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(unended_kernel_is_counted_as_lost_and_not_recorded),
	UNIT_TEST(kernel_that_ends_while_the_capture_settles_is_whole),
	UNIT_TEST(a_flush_hands_on_what_is_complete),
	UNIT_TEST(devices_are_waited_for_on_request),
	UNIT_TEST(losses_are_counted_by_kind),
	UNIT_TEST(kernel_across_the_end_is_whole),
	UNIT_TEST(abandoned_kernel_is_in_no_later_capture),
	UNIT_TEST(kernels_outside_the_window_are_left_out),
	UNIT_TEST(records_come_in_any_order),
	{NULL},
};

UNIT_MAIN("window", .set_up = host_set_up, .tear_down = host_tear_down, .tests = tests)
