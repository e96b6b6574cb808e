/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the cost of recording CUDA for a program, on the fakes of NVIDIA's libraries
 * (tests/cuda): nanoseconds of the launch of one kernel, in turns in each state; reading records;
 * memory. Figures include the fakes' own cost; "off", "fake" and "stepped" show it alone.
 *
 * Prints a line for each: its name and the median.
 */
#include <check.h>
#include <proftap/collector.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/plugins/cuda/buffers.h"
#include "lib/plugins/cuda/calls.h"
#include "lib/plugins/cuda/session.h"
#include "lib/record/device_call.h"
#include "lib/wire/device.h"
#include "tests/bench/loops.h"
#include "tests/cuda/libraries.h"
#include "tests/unit/guest_fixture.h"

#define RING_BYTES (1u << 20)
#define ROUNDS 41
#define BATCH 2000
#define N_READ 4000
#define READ_ROUNDS 101
#define N_NAMES 64
#define N_CAPTURES 1000
#define N_AT_EACH_END 100

static const struct fake *fake;
static struct cuda_session session;
static uint64_t n_emitted;
static uint32_t n_names;

/* --- the services for a collector, otherwise by libproftap ----------------------------------- */

static const char *get_option(const char *key)
{
	return strcmp(key, "ptap_cuda_settle_ms") == 0 ? "0" : NULL;
}

static uint32_t intern(const char *text)
{
	(void)text;
	return ++n_names;
}

static int emit(const struct ptap_device_record *record)
{
	n_emitted += record->kind == PTAP_DEVICE_KERNEL;
	return 0;
}

static void warn(const char *sentence)
{
	printf("error %s\n", sentence);
}

static uint64_t call_begin(uint32_t name, uint64_t correlation, uint16_t device, uint32_t context,
	unsigned flags, uint32_t graph)
{
	const struct device_call call = {
		.name = name,
		.graph = graph,
		.correlation = correlation,
		.where = launch_where(device, context, flags),
	};

	return device_call_begin(&call);
}

static int64_t monotonic_ns(void)
{
	return (int64_t)now_ns();
}

static int is_cancelled(void)
{
	return 0;
}

static const struct ptap_collector_services services = {
	.size = sizeof services,
	.get_option = get_option,
	.intern = intern,
	.emit = emit,
	.warn = warn,
	.call_begin = call_begin,
	.call_end = device_call_end,
	.note_node = device_call_note_node,
	.monotonic_ns = monotonic_ns,
	.is_cancelled = is_cancelled,
};

static void check_step(int r, const char *why)
{
	if (r)
		printf("error %s\n", why);
}

/* --- states ---------------------------------------------------------------------------------- */

enum state {
	OFF,
	FAKE, /* records kernels into one buffer that nobody reads */
	ARMED,
	CALLBACKS,
	ACTIVITY,
	BOTH,
	STATES,
};

static const char *const names[STATES] = {"off", "fake", "armed", "callbacks", "activity", "both"};

static void request_same(uint8_t **to, size_t *bytes, size_t *max)
{
	static _Alignas(8) uint8_t same[BUFFERS_BYTES];

	*to = same;
	*bytes = sizeof same;
	*max = 0;
}

static void complete_same(void *context, uint32_t stream, uint8_t *at, size_t bytes, size_t valid)
{
	(void)context;
	(void)stream;
	(void)at;
	(void)bytes;
	(void)valid;
}

static void begin_fake(void)
{
	session.cupti.register_callbacks(request_same, complete_same);
	session.cupti.enable(CUPTI_CONCURRENT_KERNEL);
}

static void end_fake(void)
{
	session.cupti.flush(CUPTI_FLUSH_FORCED);
	session.cupti.disable(CUPTI_CONCURRENT_KERNEL);
}

static void begin(enum state state)
{
	char why[PTAP_COLLECTOR_WHY_BYTES] = "";

	if (state == FAKE)
		begin_fake();
	if (state == OFF || state == FAKE)
		return;
	check_step(cuda_session_open(&session, &services, why), why);
	check_step(cuda_session_arm(&session, why), why);
	if (state == ARMED)
		return;
	check_step(cuda_session_start(&session, why), why);
	if (state == CALLBACKS)
		kinds_disable(&session.kinds, &session.cupti, 1);
	if (state == ACTIVITY)
		calls_disable(&session.callbacks.calls, session.subscriber.handle, 0);
}

static void end(enum state state)
{
	char why[PTAP_COLLECTOR_WHY_BYTES] = "";

	if (state == FAKE)
		end_fake();
	if (state == OFF || state == FAKE)
		return;
	check_step(cuda_session_stop(&session, monotonic_ns() + INT64_C(1500000000), why), why);
	check_step(cuda_session_drain(&session, why), why);
	cuda_session_close(&session);
}

static void launch(int n)
{
	const struct fake_record kernel = {.kind = 10,
		.name = "_Z6matmulPfS_i",
		.context = 1,
		.stream = 7,
		.grid = {128, 2, 1},
		.block = {256, 1, 1},
		.start_ns = fake->now_ns(),
		.registers = 40};

	for (int i = 0; i < n; i++)
		fake->call("cuLaunchKernel", &kernel, 1);
}

/*
 * In turns, so that all see the same machine. The setup of a state, and its
 * first launch, do not count.
 */
static void compare_states(void)
{
	static double samples[STATES][ROUNDS];

	fixture_open_sized(2, RING_BYTES);
	fixture_start(1);
	for (int round = 0; round < ROUNDS; round++)
		for (enum state state = OFF; state < STATES; state++) {
			begin(state);
			launch(1);
			fixture_empty(0);
			samples[state][round] = measure(launch, BATCH);
			fixture_empty(0);
			end(state);
		}
	for (enum state state = OFF; state < STATES; state++)
		printf("%s %.2f\n", names[state], median(samples[state], ROUNDS));
	fixture_close();
}

/* --- our own part of the activity: a buffer that is asked for and given back full ------------ */

static void turn_buffers(int n)
{
	for (int i = 0; i < n; i++) {
		uint8_t *buffer;
		size_t bytes;
		size_t max;

		buffers_request(&buffer, &bytes, &max);
		if (buffer)
			buffers_complete(NULL, 0, buffer, bytes, bytes);
	}
}

static void measure_buffers(void)
{
	static double samples[ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		begin(BOTH);
		samples[round] = measure(turn_buffers, 32);
		buffers_begin();
		end(BOTH);
	}
	printf("buffer %.2f\n", median(samples, ROUNDS));
}

/* --- reading --------------------------------------------------------------------------------- */

static uint8_t buffer[BUFFERS_BYTES];

static size_t fill_buffer(void)
{
	static char text[N_NAMES][32];
	size_t used = 0;

	for (int i = 0; i < N_READ; i++) {
		struct fake_record kernel = {.kind = 10,
			.name = text[i % N_NAMES],
			.context = 1,
			.stream = 7,
			.correlation = (uint32_t)i + 1,
			.start_ns = fake->now_ns(),
			.end_ns = fake->now_ns() + 1000};

		snprintf(text[i % N_NAMES], sizeof text[0], "_Z6kernel%d", i % N_NAMES);
		used += fake->write(130001, &kernel, buffer + used);
	}
	return used;
}

static void step_over(size_t n_bytes)
{
	void *record = NULL;

	while (session.cupti.next_record(buffer, n_bytes, &record) == 0)
		barrier();
}

static void measure_reading(void)
{
	static double samples[READ_ROUNDS];
	static double steps[READ_ROUNDS];
	size_t n_bytes;

	begin(BOTH);
	fake->set(FAKE_POISONS_NAMES, 0);
	n_bytes = fill_buffer();
	n_emitted = 0;
	for (int round = 0; round < READ_ROUNDS; round++) {
		double start = now_ns();

		records_read(&session.records, buffer, n_bytes);
		samples[round] = (now_ns() - start) / N_READ;
		start = now_ns();
		step_over(n_bytes);
		steps[round] = (now_ns() - start) / N_READ;
	}
	if (n_emitted != (uint64_t)N_READ * READ_ROUNDS)
		printf("error %ju of %u kernels were read\n", (uintmax_t)n_emitted,
			N_READ * READ_ROUNDS);
	printf("read %.2f\n", median(samples, READ_ROUNDS));
	printf("stepped %.2f\n", median(steps, READ_ROUNDS));
	end(BOTH);
}

/* --- memory, and captures that follow one another -------------------------------------------- */

static double read_resident_kib(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long pages = 0;

	if (!f || fscanf(f, "%*d %ld", &pages) != 1)
		printf("error /proc/self/statm\n");
	if (f)
		fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static void measure_memory(void)
{
	double before = read_resident_kib();

	begin(BOTH);
	printf("kib_begun %.0f\n", read_resident_kib() - before);
	launch(100 * BATCH);
	printf("kib_launched %.0f\n", read_resident_kib() - before);
	end(BOTH);
	printf("kib_after %.0f\n", read_resident_kib() - before);
}

static void measure_captures(void)
{
	static double samples[N_CAPTURES];

	for (int i = 0; i < N_CAPTURES; i++) {
		double start = now_ns();

		begin(BOTH);
		launch(1);
		end(BOTH);
		samples[i] = (now_ns() - start) / 1e3;
	}
	printf("first_us %.1f\n", median(samples, N_AT_EACH_END));
	printf("last_us %.1f\n", median(samples + N_CAPTURES - N_AT_EACH_END, N_AT_EACH_END));
}

/* --------------------------------------------------------------------------------------------- */

static void load(void)
{
	char path[512];
	void *driver = libraries_open(libraries_path(LIBRARIES_DRIVER, path));
	void *symbol = libraries_find(driver, FAKE_DRIVER_SYMBOL);
	fake_driver_setter set;

	memcpy(&set, &symbol, sizeof symbol);
	fake = libraries_get_fake(libraries_open(libraries_path(LIBRARIES_CUPTI, path)));
	setenv("PROFTAP_CUPTI", path, 1);
	set(FAKE_DRIVER_IS_INITIALIZED, 1);
}

/* Turns the fake's costly checks off. */
static void reset(void)
{
	char why[PTAP_COLLECTOR_WHY_BYTES];

	fake->reset();
	fake->set(FAKE_POISONS_NAMES, 0);
	fake->set(FAKE_CHECKS_ZEROES, 0);
	check_step(driver_check(&session.driver, &session.facts, why), why);
}

START_TEST(prints_figures)
{
	load();
	reset();
	measure_memory();
	compare_states();
	measure_buffers();
	measure_reading();
	measure_captures();
}
END_TEST

/* The fixture needs a running test, so this is one; its only result is the exit status. */
int main(void)
{
	Suite *suite = suite_create("bench_cuda");
	TCase *tests = tcase_create("bench_cuda");
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
