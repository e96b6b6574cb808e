/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the planes of devices that are made of collectors' records: lines, names, times, stats and
 * types.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/device_fixture.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "tests/unit/unit.h"

#define GPU "/device:GPU:0"
#define BESIDE "/device:CUSTOM:GPU:0"

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

START_TEST(knows_the_context_of_each_launch)
{
	static const uint32_t contexts[] = {1, 2, 2, UINT32_MAX, 1};
	static const char *const texts[] = {"$$1", "$$2", "$$2", "$$4294967295", "$$1"};

	for (unsigned i = 0; i < 5; i++)
		device_put_launch_in(app, contexts[i], 1000 * (i + 1), 1000 * (i + 1) + 500);
	log_assemble();
	for (unsigned i = 0; i < 5; i++)
		ck_assert_str_eq(device_text(logs.plane, log_event(0, i), "context_id"), texts[i]);
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

/* --- names and stats ----------------------------------------------------------------------- */

/* Returns the only event of that name, on the only line that has one. */
static const struct trace_event *find(const char *line, const char *event)
{
	const struct plane *plane = device_plane(GPU);

	return device_event(plane, device_line(plane, line), event);
}

static const struct trace_event *find_beside(const char *line, const char *event)
{
	const struct plane *plane = device_plane(BESIDE);

	return device_event(plane, device_line(plane, line), event);
}

static const char *text(const struct trace_event *event, const char *name)
{
	return device_text(device_plane(GPU), event, name);
}

START_TEST(knows_how_full_the_device_is)
{
	const struct plane *plane;
	const struct trace_event *event;
	const struct trace_stat *stat;

	device_put_info(collector, 0, 0xab);
	device_put_kernel(collector, "saxpy", 42, 2000, 5000);
	log_assemble();
	plane = device_plane(GPU);
	event = find("Stream #7(Compute)", "saxpy");
	ck_assert_str_eq(text(event, "kernel_details"),
		"regs:32 static_shared:0 dynamic_shared:0 grid:16,1,1 block:256,1,1 occ_pct:100");
	stat = device_stat(plane, event, "theoretical_occupancy_pct");
	ck_assert_int_eq(stat->type, STAT_DOUBLE);
	ck_assert_double_eq(stat->value.f64, 100);
	stat = device_stat(plane, event, "occupancy_min_grid_size");
	ck_assert_int_eq(stat->type, STAT_INT64);
	ck_assert_int_eq(stat->value.i64, 264);
	ck_assert_int_eq(
		device_stat(plane, event, "occupancy_suggested_block_size")->value.i64, 1024);
}
END_TEST

static void expect_fact(const char *name, enum stat_type type, uint64_t value)
{
	const struct trace_stat *stat = plane_find_own_stat(device_plane(GPU), name);

	ck_assert_msg(stat, "no %s", name);
	ck_assert_int_eq(stat->type, type);
	ck_assert_uint_eq(stat->value.u64, value);
}

START_TEST(puts_the_facts_of_a_device_on_its_plane)
{
	const struct plane *plane;

	device_put_info(collector, 0, 0xab);
	log_assemble();
	plane = device_plane(GPU);
	ck_assert_uint_eq(plane->n_lines, 0);
	ck_assert_str_eq(plane_find_text(plane, "device_vendor"), "Nvidia");
	ck_assert_str_eq(plane_find_text(plane, "gpu_device_name"), "NVIDIA H100");
	ck_assert_str_eq(plane_find_text(plane, "ptap_device_uuid"),
		"GPU-abababab-abab-abab-abab-abababababab");
	expect_fact("clock_rate", STAT_INT64, 1980000);
	expect_fact("core_count", STAT_INT64, 132);
	expect_fact("memory_bandwidth", STAT_UINT64, UINT64_C(3350000000000));
	expect_fact("memory_size", STAT_UINT64, UINT64_C(80) << 30);
	expect_fact("compute_cap_major", STAT_INT64, 9);
	expect_fact("compute_cap_minor", STAT_INT64, 0);
	expect_fact("cuda_driver_version", STAT_INT64, 13000);
	expect_fact("process_id", STAT_INT64, (uint64_t)fixture.target.pid);
}
END_TEST

START_TEST(names_kernels_as_their_source_does)
{
	const struct trace_event *event;

	device_put_kernel(collector, "_Z5saxpyifPKfPf", 1, 100, 200);
	device_put_kernel(collector, NULL, 1, 300, 400);
	log_assemble();
	event = find("Stream #7(Compute)", "saxpy(int, float, float const*, float*)");
	ck_assert_str_eq(text(event, "mangled_name"), "_Z5saxpyifPKfPf");
	event = find("Stream #7(Compute)", "Compute");
	ck_assert_ptr_null(text(event, "mangled_name"));
}
END_TEST

static struct device_entry make_copy(uint8_t direction, uint8_t from, uint8_t to, int64_t start)
{
	struct device_entry e = device_make(DEVICE_COPY, start, start + 10);

	e.of.copy = (struct device_copied){.bytes = 4096,
		.direction = direction,
		.from = from,
		.to = to,
		.to_device = 3,
		.is_async = 1};
	return e;
}

START_TEST(tells_copies_by_their_direction)
{
	static const struct {
		const char *name;
		const char *details;
	} rows[] = {
		{"MemcpyOther", "kind_src:unknown kind_dst:device size:4096 dest:0 async:1"},
		{"MemcpyHToD", "kind_src:pageable kind_dst:device size:4096 dest:0 async:1"},
		{"MemcpyDToH", "kind_src:pinned kind_dst:device size:4096 dest:0 async:1"},
		{"MemcpyDToD", "kind_src:device kind_dst:device size:4096 dest:0 async:1"},
		{"MemcpyPToP", "kind_src:array kind_dst:device size:4096 dest:3 async:1"},
		{"MemcpyHToH", "kind_src:managed kind_dst:device size:4096 dest:0 async:1"},
	};

	for (uint8_t i = 0; i < 6; i++) {
		struct device_entry e = make_copy(i, i, 3, 100 * i);

		device_put(collector, NULL, &e);
	}
	log_assemble();
	for (size_t i = 0; i < 6; i++)
		ck_assert_str_eq(
			text(find("Stream #7(MemcpyH2D,MemcpyD2H,MemcpyD2D,MemcpyP2P,MemcpyOther)",
				     rows[i].name),
				"memcpy_details"),
			rows[i].details);
}
END_TEST

START_TEST(tells_the_kind_and_size_of_filled_memory)
{
	struct device_entry e = device_make(DEVICE_SET, 100, 200);

	e.of.set = (struct device_filled){.bytes = 64, .memory = 2};
	device_put(collector, NULL, &e);
	log_assemble();
	ck_assert_str_eq(text(find("Stream #7(Memset)", "Memset pinned"), "Memset_details"),
		"kind:pinned num_bytes:64 async:0");
}
END_TEST

START_TEST(tells_graphs_and_their_nodes)
{
	const struct trace_event *event;
	struct device_entry e = device_make(DEVICE_GRAPH, 100, 900);

	e.correlation = 5;
	e.of.graph.graph = 77;
	device_put(collector, NULL, &e);
	e = device_make(DEVICE_KERNEL, 1000, 1100);
	e.correlation = 6;
	e.of.kernel = (struct device_kernel){.block = {1, 1, 1}, .graph = 78, .graph_node = 12};
	device_put(collector, "node", &e);
	device_put_graph_launch(app, 6, 78, 50, 60, 0);
	log_assemble();
	event = find("Stream #7(Compute,CudaGraph)", "CudaGraphExec:77");
	expect_uint(device_plane(GPU), event, "cuda_graph_exec_id", 77);
	ck_assert_ptr_null(device_stat(device_plane(GPU), event, "cuda_graph_id"));
	event = find("Stream #7(Compute,CudaGraph)", "node");
	expect_uint(device_plane(GPU), event, "cuda_graph_id", 78);
	expect_uint(device_plane(GPU), event, "cuda_graph_node_id", 12);
	ck_assert_str_eq(log_event_name(0, 0), "cuGraphLaunch (CudaGraph:78)");
	expect_uint(logs.plane, log_event(0, 0), "cuda_graph_orig_id", 78);
}
END_TEST

START_TEST(puts_waits_and_overheads_beside_the_device)
{
	struct device_entry e = device_make(DEVICE_SYNC, 100, 900);
	const struct plane *plane;

	e.stream = UINT64_MAX;
	e.of.sync.type = 4;
	device_put(collector, "Context Sync", &e);
	e.stream = 7;
	e.start_ns += 10;
	device_put(collector, NULL, &e);
	e = device_make(DEVICE_OVERHEAD, 200, 300);
	device_put(collector, "Buffer Flush", &e);
	log_assemble();
	ck_assert_uint_eq(device_plane(GPU)->n_lines, 0);
	plane = device_plane(BESIDE);
	ck_assert_uint_eq(plane->n_lines, 2);
	ck_assert_int_eq(plane_find_int(plane, "process_id"), fixture.target.pid);
	ck_assert_str_eq(
		device_text(plane, find_beside("Synchronization", "Context Sync"), "stream"),
		"all");
	expect_uint(plane, find_beside("Synchronization", "Synchronize"), "stream", 7);
	expect_uint(plane, find_beside("Synchronization", "Synchronize"), "type", 4);
	find_beside("CUPTI overhead", "Buffer Flush");
	ck_assert_int_eq(plane->lines[0].id, 1);
	ck_assert_int_eq(plane->lines[1].id, 2);
}
END_TEST

static void put_sample(const char *name, int64_t at, double value)
{
	struct device_entry e = device_make(DEVICE_COUNTER, at, at + 50);

	e.of.counter = value;
	device_put(collector, name, &e);
}

START_TEST(draws_counters)
{
	static const char metric[] =
		"TPC.TriageCompute.sm__cycles_active.avg.pct_of_peak_sustained_elapsed";
	const struct plane *plane;
	const struct trace_stat *stat;

	put_sample(metric, 200, 75.5);
	put_sample("mine", 150, 1);
	put_sample(metric, 100, 50);
	log_assemble();
	plane = device_plane(GPU);
	ck_assert_uint_eq(plane->n_lines, 2);
	ck_assert_int_ne(plane->lines[0].id, plane->lines[1].id);
	for (size_t i = 0; i < 2; i++)
		ck_assert_str_eq(plane->lines[i].name, "_counters_");
	ck_assert_uint_eq(plane->lines[0].n_events, 2);
	ck_assert_str_eq(device_event_name(plane, &plane->lines[0].events[0]), "SMs Active (%)");
	ck_assert_int_eq(plane->lines[0].events[0].start_ns, 100);
	ck_assert_int_eq(plane->lines[0].events[0].duration_ns, 0);
	stat = device_stat(plane, &plane->lines[0].events[1], metric);
	ck_assert_int_eq(stat->type, STAT_DOUBLE);
	ck_assert_double_eq(stat->value.f64, 75.5);
	ck_assert_double_eq(device_stat(plane, &plane->lines[1].events[0], "mine")->value.f64, 1);
}
END_TEST

/* --- lines --------------------------------------------------------------------------------- */

static void put_on_stream(uint64_t stream, uint32_t context, const char *name)
{
	struct device_entry e = device_make(DEVICE_KERNEL, 100, 200);

	e.stream = stream;
	e.context = context;
	device_put(collector, name, &e);
}

START_TEST(keeps_streams_of_two_contexts_apart)
{
	const struct plane *plane;

	put_on_stream(7, 1, "a");
	put_on_stream(7, 2, "b");
	put_on_stream(8, 2, "c");
	log_assemble();
	plane = device_plane(GPU);
	ck_assert_uint_eq(plane->n_lines, 3);
	ck_assert_int_eq(device_line(plane, "Stream #7(Compute)")->id, 7);
	ck_assert_int_gt(device_line(plane, "Stream #7(Compute) context 2")->id, 1000);
	ck_assert_int_eq(device_line(plane, "Stream #8(Compute)")->id, 8);
	ck_assert_str_eq(device_text(plane,
				 device_event(plane,
					 device_line(plane, "Stream #7(Compute) context 2"), "b"),
				 "context_id"),
		"$$2");
}
END_TEST

START_TEST(calls_streams_as_the_program_does)
{
	struct device_entry e = device_make(DEVICE_STREAM, 0, 0);

	put_on_stream(7, 1, "a");
	device_put(collector, "copies", &e);
	e.stream = 9;
	device_put(collector, "idle", &e);
	log_assemble();
	ck_assert_uint_eq(device_plane(GPU)->n_lines, 1);
	find("Stream #7(Compute) copies", "a");
}
END_TEST

/* XProf gives derived lines the numbers from 1 on. */
START_TEST(numbers_many_streams_from_a_thousand_on)
{
	for (uint64_t i = 1; i <= 21; i++)
		put_on_stream(i, 1, "a");
	log_assemble();
	ck_assert_uint_eq(device_plane(GPU)->n_lines, 21);
	for (int64_t i = 0; i < 21; i++)
		ck_assert_int_eq(device_plane(GPU)->lines[i].id, 1001 + i);
}
END_TEST

START_TEST(makes_a_plane_per_device)
{
	struct device_entry e = device_make(DEVICE_KERNEL, 100, 200);

	e.device = 2;
	device_put(collector, "a", &e);
	put_on_stream(7, 1, "b");
	log_assemble();
	ck_assert_uint_eq(logs.space->n_planes, 3);
	ck_assert_int_eq(device_plane("/device:GPU:2")->id, 2);
	device_event(device_plane("/device:GPU:2"), &device_plane("/device:GPU:2")->lines[0], "a");
	find("Stream #7(Compute)", "b");
}
END_TEST

/* Two libraries in one process both count from 0. */
START_TEST(keeps_devices_of_two_collectors_apart)
{
	struct device_entry e = device_make(DEVICE_ANCHOR, 0, 0);

	put_on_stream(7, 1, "a");
	e.collector = 1;
	e.start_ns = 5;
	e.end_ns = 777;
	device_put(collector, NULL, &e);
	e = device_make(DEVICE_KERNEL, 0, 0);
	e.collector = 1;
	e.start_ns = 105;
	e.end_ns = 205;
	device_put(collector, "b", &e);
	log_assemble();
	find("Stream #7(Compute)", "a");
	ck_assert_int_eq(device_event(device_plane("/device:GPU:1"),
				 &device_plane("/device:GPU:1")->lines[0], "b")
				 ->start_ns,
		100);
}
END_TEST

START_TEST(puts_lines_in_order)
{
	const struct line *line;

	device_put_kernel(collector, "c", 3, 300, 400);
	device_put_kernel(collector, "a", 1, 100, 150);
	device_put_kernel(collector, "b", 2, 100, 250);
	log_assemble();
	line = device_line(device_plane(GPU), "Stream #7(Compute)");
	ck_assert_str_eq(device_event_name(device_plane(GPU), &line->events[0]), "b");
	ck_assert_str_eq(device_event_name(device_plane(GPU), &line->events[1]), "a");
	ck_assert_str_eq(device_event_name(device_plane(GPU), &line->events[2]), "c");
	expect_uint(device_plane(GPU), &line->events[2], "correlation_id", make_id(3));
}
END_TEST

/* --- joining ------------------------------------------------------------------------------- */

START_TEST(belongs_to_no_step)
{
	device_put_launch(app, "cuLaunchKernel", 1, 850, 860, 2);
	device_put_span(app, "forward", 820, 900, 1);
	device_put_launch(app, "cuLaunchKernel", 2, 1000, 1010, 1);
	log_put(app, RECORD_STEP, fixture_add_string("train"), 3200, 3600, 0, 1);
	log_put_slot(app, slot_word0(0, SLOT_I64, 0), 3);
	device_put_kernel(collector, "a", 1, 2000, 2100);
	device_put_kernel(collector, "b", 2, 2200, 2300);
	log_assemble();
	ck_assert_str_eq(text(find("Stream #7(Compute)", "a"), "tf_op"), "forward");
	ck_assert_ptr_null(text(find("Stream #7(Compute)", "b"), "tf_op"));
}
END_TEST

START_TEST(belongs_to_spans_up_to_the_limit)
{
	device_put_launch(app, "cuLaunchKernel", 1, 850, 860, 1);
	device_put_span(app, "first", 820, 900, 0);
	device_put_launch(app, "cuLaunchKernel", 2, 950, 960, 1);
	device_put_span(app, "second", 920, 990, 0);
	device_put_launch(app, "cuLaunchKernel", 3, 1050, 1060, 1);
	device_put_span(app, "first", 1020, 1090, 0);
	device_put_kernel(collector, "a", 1, 2000, 2100);
	device_put_kernel(collector, "b", 2, 2200, 2300);
	device_put_kernel(collector, "c", 3, 2400, 2500);
	logs.max_ops = 1;
	log_assemble();
	ck_assert_str_eq(text(find("Stream #7(Compute)", "a"), "tf_op"), "first");
	ck_assert_ptr_null(text(find("Stream #7(Compute)", "b"), "tf_op"));
	ck_assert_str_eq(text(find("Stream #7(Compute)", "c"), "tf_op"), "first");
	ck_assert_uint_eq(log_plane_stat("ptap_lost_device_annotations"), 1);
	ck_assert_uint_eq(log_plane_stat("dropped_traces"), 0);
	ck_assert(log_has_warning(
		"gpu: 1 record without annotations: more than gpu_max_annotation_strings"));
}
END_TEST

/* A span that never ended is on the open stack, and still encloses the call. */
START_TEST(belongs_to_a_span_that_is_still_open)
{
	log_put_open(app, "outer", 3200);
	log_put_open(app, "inner", 3300)->depth = 1;
	device_put_launch(app, "cuLaunchKernel", 1, 850, 860, 2);
	device_put_kernel(collector, "a", 1, 2000, 2100);
	log_assemble();
	ck_assert_str_eq(text(find("Stream #7(Compute)", "a"), "tf_op"), "outer");
}
END_TEST

START_TEST(cuts_a_call_that_never_returned)
{
	struct open_span *open = log_put_open(app, "cuLaunchKernel", 3200);

	open->kind = RECORD_LAUNCH | RING_OPEN_HAS_FRAME;
	open->n_slots = 2;
	open->slots[0] = (struct slot){{slot_word0(0, SLOT_U64, 0), 9}};
	open->slots[1] = (struct slot){{slot_word0(0, SLOT_U64, 0), launch_where(0, 1, 0)}};
	device_put_kernel(collector, "a", 9, 900, 1000);
	log_assemble();
	ck_assert_str_eq(log_event_name(0, 0), "cuLaunchKernel");
	expect_uint(logs.plane, log_event(0, 0), "correlation_id", make_id(9));
	ck_assert_ptr_nonnull(log_event_stat(0, 0, "unfinished"));
}
END_TEST

static void put_node_kernel(uint64_t node, uint64_t correlation, const char *name)
{
	struct device_entry e = device_make(DEVICE_KERNEL, 5000, 5100);

	e.correlation = correlation;
	e.of.kernel = (struct device_kernel){.block = {1, 1, 1}, .graph = 3, .graph_node = node};
	device_put(collector, name, &e);
}

START_TEST(belongs_to_where_its_node_was_made)
{
	device_put_node(app, 10, 0, 110, 1);
	device_put_span(app, "build", 100, 200, 0);
	device_put_node(app, 20, 10, 310, 1);
	device_put_span(app, "instantiate", 300, 400, 0);
	device_put_graph_launch(app, 6, 3, 510, 520, 1);
	device_put_span(app, "run", 500, 600, 0);
	put_node_kernel(20, 6, "known");
	put_node_kernel(99, 6, "unknown");
	log_assemble();
	ck_assert_str_eq(text(find("Stream #7(Compute)", "known"), "tf_op"), "build");
	ck_assert_str_eq(text(find("Stream #7(Compute)", "unknown"), "tf_op"), "run");
}
END_TEST

/*
 * Records come before their calls, after them or without any, and the device's clock may be ahead.
 */
START_TEST(finds_calls_in_any_order)
{
	device_put_kernel(collector, "early", 2, 950, 1200);
	device_put_kernel(collector, "alone", 77, 1300, 1400);
	device_put_launch(app, "cuLaunchKernel", 2, 1000, 1010, 1);
	device_put_launch(app, "cuLaunchKernel", 3, 1020, 1030, 1);
	device_put_span(app, "op", 900, 1100, 0);
	log_assemble();
	ck_assert_str_eq(text(find("Stream #7(Compute)", "early"), "tf_op"), "op");
	ck_assert_ptr_null(text(find("Stream #7(Compute)", "alone"), "tf_op"));
	expect_uint(device_plane(GPU), find("Stream #7(Compute)", "alone"), "correlation_id",
		make_id(77));
	ck_assert_uint_eq(logs.plane->lines[0].n_events, 3);
}
END_TEST

/* Another loop reads names that are already known. */
START_TEST(belongs_to_spans_of_known_names)
{
	uint32_t op = fixture_add_string("op");

	log_put(app, RECORD_SPAN, op, 400, 400, 0, 0);
	device_put_launch(app, "cuLaunchKernel", 1, 1010, 1020, 1);
	log_put(app, RECORD_SPAN, op, 4000, 400, 0, 0);
	device_put_kernel(collector, "a", 1, 2000, 2100);
	log_assemble();
	ck_assert_str_eq(text(find("Stream #7(Compute)", "a"), "tf_op"), "op");
}
END_TEST

/* The span around the call was lost, or its level is not recorded. */
START_TEST(belongs_to_the_outermost_span_that_is_there)
{
	device_put_launch(app, "cuLaunchKernel", 1, 1010, 1020, 3);
	device_put_span(app, "middle", 1000, 1030, 2);
	device_put_kernel(collector, "a", 1, 2000, 2100);
	log_assemble();
	ck_assert_str_eq(text(find("Stream #7(Compute)", "a"), "tf_op"), "middle");
}
END_TEST

/* The 32-bit numbers wrap around, so one comes again. */
START_TEST(survives_numbers_that_run_over)
{
	device_put_launch(app, "cuLaunchKernel", UINT32_MAX, 110, 120, 1);
	device_put_span(app, "last", 100, 200, 0);
	device_put_launch(app, "cuLaunchKernel", 1, 310, 320, 1);
	device_put_span(app, "first", 300, 400, 0);
	device_put_launch(app, "cuLaunchKernel", 1, 5010, 5020, 1);
	device_put_span(app, "again", 5000, 5100, 0);
	device_put_kernel(collector, "a", UINT32_MAX, 1000, 1100);
	device_put_kernel(collector, "b", 1, 1200, 1300);
	device_put_kernel(collector, "c", 1, 6000, 6100);
	log_assemble();
	ck_assert_str_eq(text(find("Stream #7(Compute)", "a"), "tf_op"), "last");
	ck_assert_str_eq(text(find("Stream #7(Compute)", "b"), "tf_op"), "first");
	ck_assert_str_eq(text(find("Stream #7(Compute)", "c"), "tf_op"), "again");
}
END_TEST

/* --- times --------------------------------------------------------------------------------- */

START_TEST(keeps_kernels_that_run_across_the_start_or_the_stop)
{
	const struct trace_event *event;

	device_put_kernel(collector, "before", 1, -5000, 300);
	device_put_kernel(collector, "after", 2, DEVICE_STOP_NS - 100, DEVICE_STOP_NS + 5000);
	device_put_kernel(collector, "all", 3, -7000, DEVICE_STOP_NS + 7000);
	device_put_kernel(collector, "too early", 4, -300, -200);
	device_put_kernel(collector, "too late", 5, DEVICE_STOP_NS + 1, DEVICE_STOP_NS + 2);
	log_assemble();
	ck_assert_uint_eq(device_plane(GPU)->lines[0].n_events, 3);
	event = find("Stream #7(Compute)", "before");
	ck_assert_int_eq(event->start_ns, 0);
	ck_assert_int_eq(event->duration_ns, 300);
	ck_assert_int_eq(device_stat(device_plane(GPU), event, "started_before")->value.i64, 1);
	event = find("Stream #7(Compute)", "after");
	ck_assert_int_eq(event->start_ns, DEVICE_STOP_NS - 100);
	ck_assert_int_eq(event->duration_ns, 5100);
	ck_assert_ptr_null(device_stat(device_plane(GPU), event, "started_before"));
	event = find("Stream #7(Compute)", "all");
	ck_assert_int_eq(event->duration_ns, DEVICE_STOP_NS + 7000);
	ck_assert_uint_eq(log_plane_stat("ptap_device_outside"), 2);
	ck_assert_uint_eq(log_plane_stat("dropped_traces"), 0);
	ck_assert_uint_eq(logs.space->warnings.n_texts, 0);
}
END_TEST

/*
 * Records that are emitted before the start or after the stop belong to the capture, whenever they
 * were written.
 */
START_TEST(takes_records_whenever_they_were_written)
{
	const struct era nobody_knows = {
		.end = 1000, .after_ticks = 0, .before_ticks = ERA_MAX_TICKS + 1};

	device_put_kernel(collector, "a", 1, 100, 200);
	collector->eras = malloc(sizeof nobody_knows);
	collector->eras[0] = nobody_knows;
	collector->n_eras = 1;
	log_assemble();
	find("Stream #7(Compute)", "a");
	ck_assert_uint_eq(log_plane_stat("ptap_lost_undated"), 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(puts_a_kernel_on_its_stream),
	UNIT_TEST(puts_a_launch_on_its_threads_line),
	UNIT_TEST(knows_the_context_of_each_launch),
	UNIT_TEST(names_a_kernel_by_the_outermost_span_around_its_launch),
	UNIT_TEST(knows_how_full_the_device_is),
	UNIT_TEST(puts_the_facts_of_a_device_on_its_plane),
	UNIT_TEST(names_kernels_as_their_source_does),
	UNIT_TEST(tells_copies_by_their_direction),
	UNIT_TEST(tells_the_kind_and_size_of_filled_memory),
	UNIT_TEST(tells_graphs_and_their_nodes),
	UNIT_TEST(puts_waits_and_overheads_beside_the_device),
	UNIT_TEST(draws_counters),
	UNIT_TEST(keeps_streams_of_two_contexts_apart),
	UNIT_TEST(calls_streams_as_the_program_does),
	UNIT_TEST(numbers_many_streams_from_a_thousand_on),
	UNIT_TEST(makes_a_plane_per_device),
	UNIT_TEST(keeps_devices_of_two_collectors_apart),
	UNIT_TEST(puts_lines_in_order),
	UNIT_TEST(belongs_to_no_step),
	UNIT_TEST(belongs_to_spans_up_to_the_limit),
	UNIT_TEST(belongs_to_a_span_that_is_still_open),
	UNIT_TEST(cuts_a_call_that_never_returned),
	UNIT_TEST(belongs_to_where_its_node_was_made),
	UNIT_TEST(finds_calls_in_any_order),
	UNIT_TEST(belongs_to_spans_of_known_names),
	UNIT_TEST(belongs_to_the_outermost_span_that_is_there),
	UNIT_TEST(survives_numbers_that_run_over),
	UNIT_TEST(keeps_kernels_that_run_across_the_start_or_the_stop),
	UNIT_TEST(takes_records_whenever_they_were_written),
	{NULL},
};

UNIT_MAIN("devices", .set_up = setup, .tear_down = log_close, .tests = tests)
