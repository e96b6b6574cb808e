/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the cost of devices for a program: nanoseconds of a call into a device's library as a
 * span, compared with a span with two arguments, and of a record that the collectors' thread writes
 * while another thread reads the ring, like the server.
 *
 * Prints a line for each: its name and the median. For records it prints the highest
 * throughput of a second, too.
 */
#include <check.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/pipeline/drain/drain.h"
#include "lib/collect/outlet.h"
#include "lib/record/device_call.h"
#include "lib/wire/device.h"
#include "tests/bench/loops.h"
#include "tests/unit/drain_fixture.h"

#define RING_BYTES (1u << 20)
#define ROUNDS 201
#define BATCH 2000
#define RECORDS 2000000u
#define RUNS 5

static const struct device_call call = {.name = 1, .correlation = 7, .where = 1};

static void call_device(int n)
{
	for (int i = 0; i < n; i++) {
		device_call_end(device_call_begin(&call));
		barrier();
	}
}

static void annotate(int n)
{
	for (int i = 0; i < n; i++) {
		PTAP_SPAN_ARGS("args", PTAP_U("correlation", i), PTAP_U("where", n));
		barrier();
	}
}

static double measure_once(void (*emit)(int n))
{
	fixture_empty(0);
	return measure(emit, BATCH);
}

/* Calls and spans alternate, because the machine's load changes. */
static void compare(void)
{
	static double off[ROUNDS];
	static double calls[ROUNDS];
	static double args[ROUNDS];
	static double none[ROUNDS];

	fixture_open_sized(2, RING_BYTES);
	for (int i = 0; i < ROUNDS; i++)
		off[i] = measure(call_device, BATCH);
	fixture_start(1);
	annotate(1);
	call_device(1);
	for (int i = 0; i < ROUNDS; i++) {
		args[i] = measure_once(annotate);
		calls[i] = measure_once(call_device);
		none[i] = measure(read_none, BATCH);
	}
	printf("off %.2f\n", median(off, ROUNDS) - median(none, ROUNDS));
	printf("args %.2f\n", median(args, ROUNDS) - median(none, ROUNDS));
	printf("call %.2f\n", median(calls, ROUNDS) - median(none, ROUNDS));
	fixture_close();
}

static struct outlet outlet;
static _Atomic int is_over;
static uint64_t n_taken;

/* Frees the memory of the slots, like the spooler after it has read them. */
static void pass_on(struct thread_log *log)
{
	struct slot_batch batch;

	n_taken += log->n_entries;
	batch = thread_log_steal(log, &drained.budget);
	log->slots = batch.slots;
	log->n_allocated = batch.n_allocated;
	free(batch.eras);
}

static unsigned visit(void)
{
	unsigned full = drained_visit();

	for (size_t i = 0; i < drained.drain.n_logs; i++)
		pass_on(drained.drain.logs[i]);
	return full;
}

static void *take_out(void *unused)
{
	while (!atomic_load(&is_over) || visit())
		visit();
	return unused;
}

/* the costs of a record, in nanoseconds */
struct cost {
	double emitted; /* processor time of the thread that hands it on */
	double wall;
};

static struct cost hand_on(void)
{
	struct device_entry e = {.kind = DEVICE_KERNEL};
	uint32_t n = device_entry_bytes(DEVICE_KERNEL);
	pthread_t thread;
	double before;
	double before_cpu;
	struct cost cost;

	fixture_open_sized(2, RING_BYTES);
	drained_init();
	drained.budget.max_bytes = UINT64_C(1) << 30;
	atomic_store(&fixture.arena->owner, 1);
	outlet_open(&outlet, fixture.arena);
	drain_set_devices(&drained.drain, atomic_load(&fixture.arena->collect.ring));
	atomic_store(&is_over, 0);
	n_taken = 0;
	pthread_create(&thread, NULL, take_out, NULL);
	before = now_ns();
	before_cpu = thread_cpu_ns();
	for (uint32_t i = 0; i < RECORDS; i++) {
		e.correlation = i;
		outlet_put(&outlet, 1, &e, n);
	}
	cost.emitted = (thread_cpu_ns() - before_cpu) / RECORDS;
	cost.wall = (now_ns() - before) / RECORDS;
	atomic_store(&is_over, 1);
	pthread_join(thread, NULL);
	if (n_taken != RECORDS)
		printf("error %u records were handed on, not all arrived\n", RECORDS);
	drained_teardown();
	return cost;
}

START_TEST(prints_figures)
{
	double emitted[RUNS];
	double wall[RUNS];

	compare();
	for (int i = 0; i < RUNS; i++) {
		struct cost cost = hand_on();

		emitted[i] = cost.emitted;
		wall[i] = cost.wall;
	}
	printf("record %.2f\n", median(emitted, RUNS));
	printf("records %.0f\n", 1e9 / median(wall, RUNS));
}
END_TEST

/* The fixture is made for tests, so this is a test, whose result nobody reads. */
int main(void)
{
	Suite *suite = suite_create("bench_collect");
	TCase *tests = tcase_create("bench_collect");
	SRunner *runner = srunner_create(suite);
	int n_failed;

	tcase_add_test(tests, prints_figures);
	suite_add_tcase(suite, tests);
	srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_SILENT);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed != 0;
}
