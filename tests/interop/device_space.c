/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what proftapd makes of a scripted program with a GPU: three steps, in each of them a copy and two kernels of "forward",
 * and a graph of "backward" whose node "build" had made. The records are those that collectors write into rings. Usage:
 * device_space OUT
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "tests/unit/device_fixture.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "trace/xspace.h"

#define US INT64_C(1000)
#define MIB (INT64_C(1) << 20)
#define N_STEPS 3
#define STEP_NS (300 * US)
#define COPIES 13 /* stream */
#define GRAPH 7
#define NODE 11

static const char *path;
static struct thread_log *app;
static struct thread_log *collector;

/* --- what the program did ------------------------------------------------------------------ */

static void put_step(int64_t number, int64_t start, int64_t end)
{
	log_put(app, RECORD_STEP, fixture_add_string("train"), (uint64_t)start * LOG_TICKS_PER_NS,
		(uint64_t)(end - start) * LOG_TICKS_PER_NS, 0, 1);
	log_put_slot(app, slot_word0(0, SLOT_I64, 0), (uint64_t)number);
}

static void put_copy(uint64_t correlation, int64_t start, int64_t end)
{
	struct device_entry e = device_make(DEVICE_COPY, start, end);

	e.stream = COPIES;
	e.correlation = correlation;
	e.of.copy = (struct device_copied){
		.bytes = 4 * MIB, .direction = 1, .from = DEVICE_IN_PINNED, .to = 3, .is_async = 1};
	device_put(collector, NULL, &e);
}

static void put_node(uint64_t correlation, int64_t start, int64_t end)
{
	struct device_entry e = device_make(DEVICE_KERNEL, start, end);

	e.correlation = correlation;
	e.of.kernel = (struct device_kernel){
		.grid = {64, 2, 1},
		.block = {128, 1, 1},
		.registers = 255,
		.static_shared = 1024,
		.graph = GRAPH,
		.graph_node = NODE,
	};
	device_put(collector, "_ZN3net8backwardIfEEvPT_i", &e);
}

static void put_sample(const char *name, int64_t at, double value)
{
	struct device_entry e = device_make(DEVICE_COUNTER, at, at + 10 * US);

	e.of.counter = value;
	device_put(collector, name, &e);
}

static void put_memory(uint8_t op, int64_t at, int64_t n_bytes, uint64_t address)
{
	struct device_entry e = device_make(DEVICE_MEMORY, at, at);

	e.of.memory = (struct device_memory_change){
		.address = address, .bytes = (uint64_t)n_bytes, .op = op, .memory = 3};
	device_put(collector, NULL, &e);
}

static void do_step(int64_t number)
{
	int64_t t = 20 * US + number * STEP_NS;
	uint64_t first = 100 + 10 * (uint64_t)number;

	device_put_launch(app, "cuMemcpyHtoDAsync_v2", first, t + 2 * US, t + 4 * US, 2);
	device_put_launch(app, "cuLaunchKernel", first + 1, t + 5 * US, t + 8 * US, 2);
	device_put_launch(app, "cuLaunchKernel", first + 2, t + 10 * US, t + 13 * US, 2);
	device_put_span(app, "forward/matmul:MatMul", t + 1 * US, t + 20 * US, 1);
	device_put_graph_launch(app, first + 3, GRAPH, t + 31 * US, t + 36 * US, 2);
	device_put_span(app, "backward", t + 30 * US, t + 40 * US, 1);
	put_step(number, t, t + 250 * US);
	put_copy(first, t + 6 * US, t + 26 * US);
	device_put_kernel(collector, "gemm", first + 1, t + 30 * US, t + 70 * US);
	device_put_kernel(collector, "gemm", first + 2, t + 80 * US, t + 140 * US);
	put_node(first + 3, t + 150 * US, t + 240 * US);
	put_sample("dramc__read_throughput.avg.pct_of_peak_sustained_elapsed", t,
		25.0 + (double)number);
	put_sample("mine", t, 0.5);
	put_memory(DEVICE_MEMORY_TAKEN, t + 1 * US, 64 * MIB, 0x1000);
	put_memory(DEVICE_MEMORY_GIVEN_BACK, t + 200 * US, 64 * MIB, 0x1000);
}

static void put_others(void)
{
	struct device_entry e = device_make(DEVICE_OVERHEAD, 10 * US, 12 * US);

	device_put(collector, "Activity buffer request", &e);
	e = device_make(DEVICE_SYNC, 930 * US, 960 * US);
	e.stream = UINT64_MAX;
	e.of.sync.type = 4;
	device_put(collector, "Context synchronize", &e);
}

/* --- the file ------------------------------------------------------------------------------ */

static int write_out(const struct chunks *bytes)
{
	FILE *out = fopen(path, "wb");
	int r = out ? 0 : -1;

	for (size_t i = 0; i < bytes->n_chunks && !r; i++)
		if (fwrite(bytes->chunks[i].data, 1, bytes->chunks[i].used_bytes, out) !=
			bytes->chunks[i].used_bytes)
			r = -1;
	return out && fclose(out) == 0 ? r : -1;
}

static void add_rest(void)
{
	struct plane *plane = space_add_plane(logs.space, 1, PLANE_ENVIRONMENT);

	ck_assert_int_eq(plane_set_uint(plane, "profile_start_time", DEVICE_EPOCH_NS), 0);
	ck_assert_int_eq(plane_set_uint(plane, "profile_stop_time",
				 DEVICE_EPOCH_NS + (uint64_t)DEVICE_STOP_NS),
		0);
	ck_assert_uint_ne(names_intern(&logs.space->hostnames, "gpu7", 4), NAMES_NONE);
}

START_TEST(writes_a_trace)
{
	_cleanup_(chunks_deinit) struct chunks bytes = CHUNKS_INIT;

	log_open();
	app = log_add(100, "main");
	collector = log_add(101, "ptap-collect");
	device_put_anchors(collector);
	device_put_info(collector, 0, 0xab);
	device_put_node(app, NODE, 0, 5 * US, 1);
	device_put_span(app, "build", 4 * US, 9 * US, 0);
	put_others();
	for (int64_t i = 0; i < N_STEPS; i++)
		do_step(i);
	log_assemble();
	add_rest();
	ck_assert_int_eq(xspace_encode(logs.space, &bytes), 0);
	ck_assert_int_eq(write_out(&bytes), 0);
	log_close();
}
END_TEST

/* The fixtures are made for tests. */
int main(int argc, char **argv)
{
	Suite *suite = suite_create("device_space");
	TCase *tcase = tcase_create("device_space");
	SRunner *runner;
	int n_failed;

	path = argc > 1 ? argv[1] : "/dev/null";
	tcase_add_test(tcase, writes_a_trace);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_MINIMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
