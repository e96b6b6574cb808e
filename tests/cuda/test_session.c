/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a capture of a CUDA program, from its first step to its last. CUPTI is a fake. */
#include <check.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/host.h"
#include "tests/unit/unit.h"

#define N_CAPTURES 1000

START_TEST(a_kernel_is_recorded_with_its_call)
{
	struct fake_record kernel = host_kernel("_Z6matmulPfS_i");
	const struct ptap_device_record *record;
	uint32_t correlation;

	host_begin();
	correlation = host.fake->call("cuLaunchKernel", &kernel, 1);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	record = host_get(PTAP_DEVICE_KERNEL, 0);
	ck_assert_str_eq(host_name(record->name), "_Z6matmulPfS_i");
	ck_assert_uint_eq(record->correlation, correlation);
	ck_assert_uint_eq(record->context, 1);
	ck_assert_uint_eq(record->stream, 7);
	ck_assert_uint_eq(record->end_ns - record->start_ns, 1000);
	ck_assert_uint_eq(record->of.kernel.grid[0], 128);
	ck_assert_uint_eq(record->of.kernel.grid[1], 2);
	ck_assert_uint_eq(record->of.kernel.block[0], 256);
	ck_assert_uint_eq(record->of.kernel.registers, 40);
	ck_assert_uint_eq(record->of.kernel.static_shared, 1024);
	ck_assert_uint_eq(record->of.kernel.dynamic_shared, 2048);
	ck_assert_uint_eq(host.n_calls, 1);
	ck_assert_str_eq(host_name(host.calls[0].name), "cuLaunchKernel");
	ck_assert_uint_eq(host.calls[0].correlation, correlation);
	ck_assert_uint_eq(host.calls[0].context, 1);
	ck_assert_int_eq(host.calls[0].n_ended, 1);
	ck_assert_str_eq(host.warnings, "");
}
END_TEST

START_TEST(a_capture_leaves_nothing_enabled)
{
	struct fake_record kernel = host_kernel("k");

	host_begin();
	ck_assert(host.fake->is_subscribed());
	ck_assert_int_gt(host.fake->count_callbacks(), 0);
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host_end();
	ck_assert(!host.fake->is_subscribed());
	ck_assert_int_eq(host.fake->count_callbacks(), 0);
	for (uint32_t kind = 0; kind < 60; kind++)
		ck_assert_msg(!host.fake->is_enabled(kind), "kind %u", kind);
	ck_assert_uint_eq(host.fake->get_attribute(2), 250);
	ck_assert_uint_eq(host.fake->get_attribute(5), 0);
	ck_assert_int_eq(host.fake->count("cuptiFinalize"), 0);
}
END_TEST

START_TEST(the_steps_are_in_the_order_that_cupti_wants)
{
	host_begin();
	host_end();
	ck_assert(host.fake->is_before("cuptiSubscribe_v2", "cuptiActivityRegisterCallbacks"));
	ck_assert(host.fake->is_before("cuptiActivityRegisterCallbacks", "cuptiActivityEnable"));
	ck_assert(host.fake->is_before("cuptiActivityEnableAndDump", "cuptiActivityEnable"));
	ck_assert(host.fake->is_before("cuptiUnsubscribe", "cuptiActivityDisable"));
	ck_assert(host.fake->is_before("cuptiActivityDisable", "cuptiActivityFlushAll"));
	ck_assert(
		host.fake->is_before("cuptiActivityFlushAll", "cuptiActivityGetNumDroppedRecords"));
}
END_TEST

START_TEST(two_anchors_place_the_devices_clock)
{
	const struct ptap_device_record *first;
	const struct ptap_device_record *last;

	host.fake->set(FAKE_CLOCK_OFFSET_NS, 5000000000);
	host_begin();
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_ANCHOR), 2);
	first = host_get(PTAP_DEVICE_ANCHOR, 0);
	last = host_get(PTAP_DEVICE_ANCHOR, 1);
	ck_assert_uint_lt(first->end_ns, last->end_ns);
	ck_assert_uint_lt(first->start_ns, last->start_ns);
	ck_assert_uint_le(last->start_ns, host.fake->now_ns());
}
END_TEST

START_TEST(devices_are_reported)
{
	const struct ptap_device_record *second;

	host_begin();
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_INFO), 2);
	second = host_get(PTAP_DEVICE_INFO, 1);
	ck_assert_str_eq(host_name(second->name), "NVIDIA Fake B");
	ck_assert_uint_eq(second->device, 1);
	ck_assert_uint_eq(second->of.info.memory_bytes, UINT64_C(81) << 30);
	ck_assert_uint_eq(second->of.info.memory_bandwidth, UINT64_C(3352320000000));
	ck_assert_uint_eq(second->of.info.core_count, 132);
	ck_assert_uint_eq(second->of.info.clock_khz, 1980000);
	ck_assert_uint_eq(second->of.info.compute_major, 9);
	ck_assert_uint_eq(second->of.info.shared_per_block_optin, 232448);
	ck_assert_uint_eq(second->of.info.max_blocks_per_core, 32);
	ck_assert_uint_eq(second->of.info.driver_version, 13000);
	ck_assert_uint_eq(second->of.info.library_version, 130001);
	ck_assert_uint_eq(second->of.info.uuid[0], 0xa1);
	ck_assert_uint_eq(second->of.info.vendor, 0x10de);
}
END_TEST

START_TEST(streams_that_were_there_before_are_reported)
{
	const struct ptap_device_record *stream;

	host_begin();
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_STREAM), 3);
	stream = host_get(PTAP_DEVICE_STREAM, 1);
	ck_assert_uint_eq(stream->stream, 13);
	ck_assert_uint_eq(stream->context, 1);
	ck_assert_int_eq(stream->of.stream.priority, -2);
	ck_assert_uint_eq(stream->of.stream.flags, 2);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_STREAM, 2)->device, 1);
}
END_TEST

static int count_lines(const char *path)
{
	FILE *f = fopen(path, "re");
	int n = 0;

	ck_assert_ptr_nonnull(f);
	for (int c = getc(f); c != EOF; c = getc(f))
		n += c == '\n';
	fclose(f);
	return n;
}

/* Allows a few bytes for each capture, and a few mappings of threads that have not quite ended. */
static void check_same(const struct mallinfo2 *heap, int n_mappings)
{
	struct mallinfo2 now = mallinfo2();

	ck_assert_uint_le(
		now.uordblks + now.hblkhd, heap->uordblks + heap->hblkhd + 4 * N_CAPTURES);
#ifdef __SANITIZE_THREAD__
	/* The sanitizer maps memory of its own, also for threads that have ended. */
	n_mappings += N_CAPTURES / 10;
#endif
	ck_assert_int_le(count_lines("/proc/self/maps"), n_mappings + N_CAPTURES / 100);
}

/*
 * Runs captures with all options. Each records the same work, so that a later one needs no new
 * memory.
 */
START_TEST(captures_follow_one_another)
{
	struct fake_record kernel = host_kernel("the same each time");
	struct mallinfo2 heap = {0};
	int n_mappings = 0;

	host_set_option("gpu_pm_sample_counters=sm__a");
	host_set_option("gpu_num_chips_to_profile_per_task=1");
	host_set_option("ptap_cuda_sync_at_stop=true");
	host.fake->set(FAKE_SAMPLES, 3);
	for (int i = 0; i < N_CAPTURES; i++) {
		host_forget();
		host_begin();
		host.fake->call("cuLaunchKernel", &kernel, 1);
		host_end();
		ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
		ck_assert_uint_gt(host_count(PTAP_DEVICE_COUNTER), 0);
		ck_assert_uint_eq(host.n_calls, 1);
		ck_assert_str_eq(host.warnings, "");
		if (i == 10) {
			n_mappings = count_lines("/proc/self/maps");
			heap = mallinfo2();
		}
	}
	check_same(&heap, n_mappings);
	/* The device, the kernel, the call, the counter. */
	ck_assert_uint_eq(host.n_names, 4);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_kernel_is_recorded_with_its_call),
	UNIT_TEST(a_capture_leaves_nothing_enabled),
	UNIT_TEST(the_steps_are_in_the_order_that_cupti_wants),
	UNIT_TEST(two_anchors_place_the_devices_clock),
	UNIT_TEST(devices_are_reported),
	UNIT_TEST(streams_that_were_there_before_are_reported),
	UNIT_TEST(captures_follow_one_another),
	{NULL},
};

UNIT_MAIN("session", .set_up = host_set_up, .tear_down = host_tear_down, .tests = tests)
