/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests proftapd's trace of a scripted program with a GPU, byte by byte against gpu.xplane.pb,
 * which other tests read, too. There are three steps with a copy and four kernels of "forward"
 * each: one kernel runs beside the others on its own stream, and one begins before its stream's
 * previous kernel has ended. Each step also launches a graph in "backward", whose node was made in
 * "build". The records are those that collectors write into rings. `gpu --regenerate` writes the
 * file; look at the difference before committing it: protoc --decode=tensorflow.profiler.XSpace, or
 * proftap convert -t ndjson.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "tests/unit/device_fixture.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "trace/xspace/xspace.h"

#define US INT64_C(1000)
#define MIB (INT64_C(1) << 20)
#define N_STEPS 3
#define STEP_NS (300 * US)
/* Two streams, a graph, its node. */
#define COPIES 13
#define BESIDE 9
#define GRAPH 7
#define NODE 11
/* The program's pid, which is the upper half of each correlation in the trace. */
#define PID 4711
#define MAX_BYTES ((size_t)1 << 20)

static bool is_new; /* the file is written, not compared */
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

static void put_beside(uint64_t correlation, int64_t start, int64_t end)
{
	struct device_entry e = device_make(DEVICE_KERNEL, start, end);

	e.stream = BESIDE;
	e.correlation = correlation;
	e.of.kernel = (struct device_kernel){
		.grid = {1, 1, 1}, .block = {32, 1, 1}, .registers = 16, .dynamic_shared = 512};
	device_put(collector, "reduce", &e);
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
	device_put_launch(app, "cuLaunchKernel", first + 4, t + 14 * US, t + 16 * US, 2);
	device_put_launch(app, "cuLaunchKernelEx", first + 5, t + 17 * US, t + 19 * US, 2);
	device_put_span(app, "forward/matmul:MatMul", t + 1 * US, t + 20 * US, 1);
	device_put_graph_launch(app, first + 3, GRAPH, t + 31 * US, t + 36 * US, 2);
	device_put_span(app, "backward", t + 30 * US, t + 40 * US, 1);
	put_step(number, t, t + 250 * US);
	put_copy(first, t + 6 * US, t + 26 * US);
	device_put_kernel(collector, "gemm", first + 1, t + 30 * US, t + 70 * US);
	device_put_kernel(collector, "gemm", first + 2, t + 80 * US, t + 140 * US);
	put_beside(first + 4, t + 60 * US, t + 120 * US);
	device_put_kernel(collector, "tail", first + 5, t + 130 * US, t + 148 * US);
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

static FILE *open_file(const char *mode)
{
	const char *root = getenv("top_srcdir");
	char path[4096];

	snprintf(path, sizeof path, "%s/tests/golden/gpu.xplane.pb", root ? root : ".");
	return fopen(path, mode);
}

static size_t flatten(const struct chunks *c, uint8_t *bytes)
{
	size_t n = 0;

	ck_assert_uint_le(c->total_bytes, MAX_BYTES);
	for (size_t i = 0; i < c->n_chunks; i++) {
		memcpy(bytes + n, c->chunks[i].data, c->chunks[i].used_bytes);
		n += c->chunks[i].used_bytes;
	}
	return n;
}

static void write_file(const uint8_t *bytes, size_t n)
{
	FILE *file = open_file("we");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, n, file), n);
	ck_assert_int_eq(fclose(file), 0);
}

static void compare_with_file(const uint8_t *bytes, size_t n)
{
	static uint8_t expected[MAX_BYTES];
	FILE *file = open_file("re");
	size_t n_expected = file ? fread(expected, 1, sizeof expected, file) : 0;
	size_t i = 0;

	if (file)
		fclose(file);
	while (i < n && i < n_expected && bytes[i] == expected[i])
		i++;
	ck_assert_msg(i == n && i == n_expected,
		"%zu bytes expected, %zu encoded, first difference at %zu", n_expected, n, i);
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

START_TEST(the_trace_equals_the_golden_file)
{
	_cleanup_(chunks_deinit) struct chunks encoded = CHUNKS_INIT;
	static uint8_t bytes[MAX_BYTES];
	size_t n;

	log_open();
	fixture.target.pid = PID;
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
	ck_assert_int_eq(xspace_encode(logs.space, &encoded), 0);
	n = flatten(&encoded, bytes);
	if (is_new)
		write_file(bytes, n);
	else
		compare_with_file(bytes, n);
	log_close();
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("gpu");
	TCase *tcase = tcase_create("gpu");
	SRunner *runner;

	is_new = argc > 1 && strcmp(argv[1], "--regenerate") == 0;
	tcase_add_test(tcase, the_trace_equals_the_golden_file);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
