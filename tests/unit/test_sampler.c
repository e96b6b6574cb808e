/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the thread that takes CPU samples, on a child process of the test. Where the kernel refuses
 * perf events, the tests say so and pass.
 */
#include "daemon/pipeline/samples/sampler.h"

#include <check.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/pipeline/samples/samples.h"
#include "tests/unit/unit.h"

#define RATE_HZ 997
/* Room for the samples of a third of a second. */
#define SMALL_BYTES 8192
#define PATIENCE_NS (60 * NS_PER_S)

static pid_t child;
static char why[SAMPLER_WHY_BYTES];
static volatile unsigned long sum;

/* It is not static, so that the symbol is in the program's table in any case. */
void burn_in_child(void);
__attribute__((noinline, noclone)) void burn_in_child(void)
{
	for (;;)
		sum++;
}

static void set_up(void)
{
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child)
		burn_in_child();
}

static void tear_down(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* Returns NULL, and says why, if the kernel refuses. */
static struct sampler *start_as(const struct sampler_config *config)
{
	struct sampler *s = sampler_start(config, child, why);

	if (!s)
		printf("# not tested: %s\n", why);
	return s;
}

static struct sampler *start(uint64_t max_bytes)
{
	const struct sampler_config config = {
		.root = "", .rate_hz = RATE_HZ, .max_bytes = max_bytes};

	return start_as(&config);
}

/* Takes samples, until there are some. They belong to the caller. */
static struct samples take_some(struct sampler *s)
{
	int64_t give_up_ns = monotonic_ns() + PATIENCE_NS;
	struct samples samples = {.n = 0};

	do {
		samples_deinit(&samples);
		sampler_cut(s, &samples, INT64_MIN);
		ck_assert_int_eq(samples.error, 0);
	} while (samples.processes[0].n == 0 && monotonic_ns() < give_up_ns);
	return samples;
}

static bool stack_has(const struct stacks *s, uint32_t stack, const char *function)
{
	for (; stack != STACKS_NONE; stack = s->v[stack].callers)
		if (strcmp(stacks_get_function(s, stack), function) == 0)
			return true;
	return false;
}

START_TEST(samples_have_names_threads_and_times)
{
	int64_t begin_ns = monotonic_ns();
	struct sampler *s = start(1 << 20);
	struct samples samples;
	const struct sampled_process *p;
	size_t n_found = 0;

	if (!s)
		return;
	samples = take_some(s);
	p = &samples.processes[0];
	ck_assert_int_eq(samples.period_ns, NS_PER_S / RATE_HZ);
	ck_assert_uint_eq(samples.n, 1);
	ck_assert_int_eq(p->pid, child);
	ck_assert_uint_eq(p->n_threads, 1);
	ck_assert_int_eq(p->threads[0].tid, child);
	for (size_t i = 0; i < p->n; i++) {
		ck_assert_int_ge(p->v[i].at_ns, begin_ns);
		ck_assert_int_le(p->v[i].at_ns, monotonic_ns());
		n_found += stack_has(&p->stacks, p->v[i].stack, "burn_in_child");
	}
	ck_assert_uint_gt(n_found, p->n / 2);
	samples_deinit(&samples);
	sampler_stop(s, &samples, why);
	ck_assert_str_eq(why, "");
	samples_deinit(&samples);
}
END_TEST

START_TEST(samples_go_on_behind_a_cut)
{
	struct sampler *s = start(1 << 20);
	struct samples first;
	struct samples second;

	if (!s)
		return;
	first = take_some(s);
	second = take_some(s);
	ck_assert_int_gt(second.processes[0].v[0].at_ns,
		first.processes[0].v[first.processes[0].n - 1].at_ns);
	samples_deinit(&first);
	samples_deinit(&second);
	sampler_stop(s, &first, why);
	samples_deinit(&first);
}
END_TEST

START_TEST(samples_without_room_are_counted)
{
	struct sampler *s = start(0);
	struct samples samples = {.n = 0};
	int64_t give_up_ns = monotonic_ns() + PATIENCE_NS;

	if (!s)
		return;
	do {
		samples_deinit(&samples);
		sampler_cut(s, &samples, INT64_MIN);
		ck_assert_uint_eq(samples.processes[0].n, 0);
	} while (!samples.processes[0].n_left_out && monotonic_ns() < give_up_ns);
	ck_assert_uint_gt(samples.processes[0].n_left_out, 0);
	samples_deinit(&samples);
	sampler_stop(s, &samples, why);
	samples_deinit(&samples);
}
END_TEST

START_TEST(a_process_that_has_ended_is_no_failure)
{
	tear_down();
	ck_assert_ptr_null(start(1 << 20));
	ck_assert_str_eq(why, "");
}
END_TEST

START_TEST(samples_outlive_their_process)
{
	struct sampler *s = start(1 << 20);
	struct samples samples;

	if (!s)
		return;
	samples = take_some(s);
	samples_deinit(&samples);
	tear_down();
	sampler_stop(s, &samples, why);
	ck_assert_str_eq(why, "");
	ck_assert_uint_eq(samples.n, 1);
	for (size_t i = 0; i < samples.processes[0].n; i++)
		ck_assert_str_ne(stacks_get_function(&samples.processes[0].stacks,
					 samples.processes[0].v[i].stack),
			"");
	samples_deinit(&samples);
}
END_TEST

/* Copies the samples, until the earliest one is later than |after_ns|. Returns its time. */
static int64_t copy_until(struct sampler *s, struct samples *samples, int64_t after_ns)
{
	int64_t give_up_ns = monotonic_ns() + PATIENCE_NS;
	const struct sampled_process *p;

	do {
		samples_deinit(samples);
		sampler_copy(s, samples, INT64_MIN);
		ck_assert_int_eq(samples->error, 0);
		p = &samples->processes[0];
		ck_assert_int_lt(monotonic_ns(), give_up_ns);
	} while (!p->n || p->v[0].at_ns <= after_ns);
	return p->v[0].at_ns;
}

START_TEST(old_samples_make_room_for_new_ones)
{
	const struct sampler_config config = {.root = "",
		.rate_hz = RATE_HZ,
		.has_states = true,
		.max_bytes = SMALL_BYTES,
		.keeps_newest = true};
	struct sampler *s = start_as(&config);
	struct samples samples = {.n = 0};
	const struct sampled_process *p;
	int64_t first_ns = INT64_MIN;

	if (!s)
		return;
	for (int i = 0; i < 4; i++)
		first_ns = copy_until(s, &samples, first_ns);
	p = &samples.processes[0];
	/* The last drain may have added as many as fit into a ring. */
	ck_assert_uint_lt(p->n * sizeof *p->v, 2 * SMALL_BYTES);
	ck_assert_uint_eq(p->n_left_out, 0);
	ck_assert_str_ne(p->threads[0].name, "");
	for (size_t i = 0; i < p->n; i++)
		ck_assert_str_ne(stacks_get_function(&p->stacks, p->v[i].stack), "");
	samples_deinit(&samples);
	sampler_stop(s, &samples, why);
	samples_deinit(&samples);
}
END_TEST

START_TEST(a_copy_takes_nothing_away)
{
	struct sampler *s = start(1 << 20);
	struct samples first = {.n = 0};
	struct samples second = {.n = 0};
	size_t n;

	if (!s)
		return;
	copy_until(s, &first, INT64_MIN);
	copy_until(s, &second, INT64_MIN);
	n = first.processes[0].n;
	ck_assert_uint_ge(second.processes[0].n, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(first.processes[0].v[i].at_ns, second.processes[0].v[i].at_ns);
	samples_deinit(&second);
	sampler_copy(s, &second, first.processes[0].v[n - 1].at_ns);
	ck_assert_int_eq(second.processes[0].v[0].at_ns, first.processes[0].v[n - 1].at_ns);
	samples_deinit(&first);
	samples_deinit(&second);
	sampler_stop(s, &first, why);
	samples_deinit(&first);
}
END_TEST

START_TEST(a_removed_process_has_no_samples)
{
	struct sampler *s = start(1 << 20);
	struct samples samples = {.n = 0};

	if (!s)
		return;
	copy_until(s, &samples, INT64_MIN);
	samples_deinit(&samples);
	sampler_remove_process(s, child);
	sampler_copy(s, &samples, INT64_MIN);
	ck_assert_uint_eq(samples.n, 0);
	samples_deinit(&samples);
	sampler_stop(s, &samples, why);
	samples_deinit(&samples);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(samples_have_names_threads_and_times),
	UNIT_TEST(samples_go_on_behind_a_cut),
	UNIT_TEST(samples_without_room_are_counted),
	UNIT_TEST(a_process_that_has_ended_is_no_failure),
	UNIT_TEST(samples_outlive_their_process),
	UNIT_TEST(old_samples_make_room_for_new_ones),
	UNIT_TEST(a_copy_takes_nothing_away),
	UNIT_TEST(a_removed_process_has_no_samples),
	{NULL},
};

UNIT_MAIN("sampler", .set_up = set_up, .tear_down = tear_down, .tests = tests)
