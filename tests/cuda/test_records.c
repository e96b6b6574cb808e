/* SPDX-License-Identifier: Apache-2.0 */
/* Tests records of each kind and each version, and invalid ones. CUPTI is a fake. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/host.h"
#include "tests/unit/unit.h"

static const uint32_t versions[] = {18, 19, 24, 26, 28, 130000, 130001, 130101, 130300, 130500};

#define N_VERSIONS ((int)(sizeof versions / sizeof versions[0]))

START_TEST(every_version_is_read)
{
	struct fake_record work[] = {
		host_kernel("first"),
		{.kind = 1,
			.stream = 9,
			.direction = 1,
			.from = 2,
			.to = 3,
			.bytes = 4096,
			.is_async = 1},
		{.kind = 22, .from_device = 1, .to_device = 0, .from = 3, .to = 3, .bytes = 5},
		{.kind = 2, .bytes = 77, .value = 3, .to = 3},
		host_kernel("last"),
	};
	const struct ptap_device_record *copy;

	host.fake->set(FAKE_VERSION, versions[_i]);
	host_begin();
	host.fake->call("cuLaunchKernel", work, 5);
	host_end();
	ck_assert_ptr_nonnull(host_find_name(PTAP_DEVICE_KERNEL, "first"));
	ck_assert_ptr_nonnull(host_find_name(PTAP_DEVICE_KERNEL, "last"));
	ck_assert_uint_eq(host_count(PTAP_DEVICE_COPY), 2);
	copy = host_get(PTAP_DEVICE_COPY, 0);
	ck_assert_uint_eq(copy->of.copy.direction, PTAP_COPY_H2D);
	ck_assert_uint_eq(copy->of.copy.from, PTAP_MEMORY_PINNED);
	ck_assert_uint_eq(copy->of.copy.to, PTAP_MEMORY_DEVICE);
	ck_assert_uint_eq(copy->of.copy.bytes, 4096);
	ck_assert_uint_eq(copy->of.copy.is_async, 1);
	ck_assert_uint_eq(copy->stream, 9);
	copy = host_get(PTAP_DEVICE_COPY, 1);
	ck_assert_uint_eq(copy->of.copy.direction, PTAP_COPY_P2P);
	ck_assert_uint_eq(copy->of.copy.from_device, 1);
	ck_assert_uint_eq(copy->of.copy.to_device, 0);
	ck_assert_uint_eq(copy->correlation, host.calls[0].correlation);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_SET, 0)->of.set.bytes, 77);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_SET, 0)->of.set.value, 3);
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_INVALID), 0);
}
END_TEST

START_TEST(waits_memory_and_graphs_are_there_on_request)
{
	const struct fake_record waits[] = {
		{.kind = 38, .type = 3, .stream = 13, .event = 4},
		{.kind = 38, .type = 4, .stream = UINT32_MAX, .context = 2},
	};
	const struct fake_record memory[] = {
		{.kind = 49, .type = 1, .to = 3, .bytes = 1 << 20, .address = 0x7000, .stream = 7},
		{.kind = 49, .type = 2, .to = 3, .bytes = 1 << 20, .address = 0x7000, .stream = 7},
		{.kind = 50, .type = 1, .bytes = 9, .address = 0x9000},
	};
	const struct fake_record graph = {.kind = 51, .graph = 5, .stream = 7};

	host_begin();
	host.fake->call("cuStreamSynchronize", waits, 2);
	host.fake->call("cuMemAlloc_v2", memory, 3);
	host.fake->call("cuGraphLaunch", &graph, 1);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_SYNC), 0);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_MEMORY), 0);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_GRAPH), 0);
	host_forget();
	host_set_option("ptap_cuda_sync=true");
	host_set_option("ptap_cuda_memory=true");
	host_set_option("gpu_enable_cupti_activity_graph_trace=true");
	host_begin();
	/* Queries for completion are not recorded. */
	ck_assert_uint_eq(host.fake->get_attribute(15), 0);
	host.fake->call("cuStreamSynchronize", waits, 2);
	host.fake->call("cuMemAlloc_v2", memory, 3);
	host.fake->call("cuGraphLaunch", &graph, 1);
	host_end();
	ck_assert_uint_eq(host.fake->get_attribute(15), 1);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_SYNC), 2);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_SYNC, 0)->stream, 13);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_SYNC, 0)->of.sync.type, 3);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_SYNC, 0)->of.sync.event, 4);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_SYNC, 1)->stream, UINT64_MAX);
	/* Its context is known to be on the second device. */
	ck_assert_uint_eq(host_get(PTAP_DEVICE_SYNC, 1)->device, 1);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_MEMORY), 3);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_MEMORY, 0)->of.memory.op, PTAP_MEMORY_TAKEN);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_MEMORY, 0)->of.memory.address, 0x7000);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_MEMORY, 1)->of.memory.op, PTAP_MEMORY_GIVEN_BACK);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_MEMORY, 2)->of.memory.op, PTAP_MEMORY_POOL_MADE);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_MEMORY, 2)->of.memory.bytes, 9);
	ck_assert_uint_eq(host_get(PTAP_DEVICE_GRAPH, 0)->of.graph.graph, 5);
}
END_TEST

START_TEST(overhead_has_a_name_and_perhaps_a_stream)
{
	const struct fake_record of_stream = {.kind = 17,
		.type = 3 << 16,
		.object_kind = 5,
		.device = 1,
		.context = 2,
		.stream = 8};
	const struct fake_record of_thread = {
		.kind = 17, .type = 1, .object_kind = 2, .device = 4242, .context = 4243};
	const struct ptap_device_record *overhead;

	host_begin();
	host.fake->record(&of_stream);
	host.fake->record(&of_thread);
	host_end();
	overhead = host_find_name(PTAP_DEVICE_OVERHEAD, "Resource");
	ck_assert_ptr_nonnull(overhead);
	ck_assert_uint_eq(overhead->device, 1);
	ck_assert_uint_eq(overhead->stream, 8);
	overhead = host_find_name(PTAP_DEVICE_OVERHEAD, "Driver Compiler");
	ck_assert_ptr_nonnull(overhead);
	ck_assert_uint_eq(overhead->device, 0);
	ck_assert_uint_eq(overhead->stream, UINT64_MAX);
}
END_TEST

START_TEST(records_that_end_before_they_begin_are_counted)
{
	struct fake_record backwards = host_kernel("backwards");

	backwards.start_ns = host.fake->now_ns() + 1000000;
	backwards.end_ns = backwards.start_ns - 500;
	host_begin();
	host.fake->record(&backwards);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 0);
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_INVALID), 1);
}
END_TEST

START_TEST(records_of_kinds_not_requested_are_skipped)
{
	struct fake_record kernel = host_kernel("behind");
	const struct fake_record marker = {
		.kind = 12, .flags = 2, .value = 1, .name = "not popped"};
	const struct fake_record external = {.kind = 39, .type = 1, .value = 7};

	host_begin();
	/* Kinds that another tool has enabled would bring these records. */
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host.fake->record(&marker);
	host.fake->record(&external);
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 2);
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_INVALID), 0);
}
END_TEST

START_TEST(correlations_go_on_past_32_bits)
{
	struct fake_record kernel = host_kernel("k");
	const uint64_t expected[] = {UINT32_MAX - 1, UINT32_MAX, 1};

	host.fake->set(FAKE_CORRELATION, UINT32_MAX - 2);
	host_begin();
	for (int i = 0; i < 3; i++)
		host.fake->call("cuLaunchKernel", &kernel, 1);
	host_end();
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(host_get(PTAP_DEVICE_KERNEL, i)->correlation, expected[i]);
		ck_assert_uint_eq(host.calls[i].correlation, expected[i]);
	}
}
END_TEST

START_TEST(kernel_names_are_copied_before_cupti_frees_them)
{
	struct fake_record kernel = host_kernel("gone soon");

	host_begin();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host_end();
	host_forget();
	host_begin();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host_end();
	ck_assert_ptr_nonnull(host_find_name(PTAP_DEVICE_KERNEL, "gone soon"));
	/* The names of two devices, the call and the kernel, each interned once. */
	ck_assert_uint_eq(host.n_names, 4);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(every_version_is_read, N_VERSIONS),
	UNIT_TEST(waits_memory_and_graphs_are_there_on_request),
	UNIT_TEST(overhead_has_a_name_and_perhaps_a_stream),
	UNIT_TEST(records_that_end_before_they_begin_are_counted),
	UNIT_TEST(records_of_kinds_not_requested_are_skipped),
	UNIT_TEST(correlations_go_on_past_32_bits),
	UNIT_TEST(kernel_names_are_copied_before_cupti_frees_them),
	{NULL},
};

UNIT_MAIN("records", .set_up = host_set_up, .tear_down = host_tear_down, .tests = tests)
