/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests captures that start and stop while threads annotate without a pause: each begun span is
 * recorded, open or counted as lost.
 */
#include <check.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "tests/unit/drain_fixture.h"
#include "tests/unit/unit.h"

#define N_THREADS 2
#define N_CAPTURES 10000
#define ROUNDS_AT_ONCE 20
/* Under load a machine makes fewer captures in this time. */
#define ENOUGH_NS (3 * NS_PER_S)

static struct ptap_impl_site site = {0, {0}, "span"};
static struct ptap_impl_site args_site = {0, {0}, "span with arguments"};

static _Atomic uint64_t n_begun[N_CAPTURES + 2]; /* by the capture's number */
static _Atomic uint64_t n_rounds[N_THREADS];
static _Atomic int quit;

static void begin_and_end(const struct ptap_impl_arg *arg, int yields)
{
	uint32_t word = ptap_impl_word();
	struct ptap_impl_token token = {NULL, 0, 0};

	if (word & 3u)
		token = arg ? ptap_impl_begin_args(&args_site, word, arg, 1)
			    : ptap_impl_begin(&site, word);
	if (!token.ring)
		return;
	atomic_fetch_add(&n_begun[token.word >> 2], 1);
	/* await_all() must not wait for a time slice; besides, the capture often ends here. */
	if (yields)
		sched_yield();
	ptap_impl_end(token);
}

static void *annotate(void *rounds)
{
	for (int i = 0; !quit; i++) {
		const struct ptap_impl_arg arg = PTAP_I("i", i);

		begin_and_end(i % 2 ? &arg : NULL, i % ROUNDS_AT_ONCE == 0);
		if (!ptap_impl_word())
			sched_yield();
		atomic_fetch_add((_Atomic uint64_t *)rounds, 1);
	}
	return NULL;
}

/* Waits until each thread has left its current annotation. */
static void await_all(void)
{
	for (int i = 0; i < N_THREADS; i++) {
		uint64_t before = atomic_load(&n_rounds[i]);

		while (atomic_load(&n_rounds[i]) < before + 2)
			sched_yield();
	}
}

static uint64_t count_entries(const struct thread_log *log)
{
	uint64_t n = 0;
	size_t at = 0;

	while (at < log->n_slots) {
		const struct slot *slot = &log->slots[at];

		ck_assert_uint_eq(record_kind(slot->word[0]), RECORD_SPAN);
		at += 1 + record_n_extra(slot->word[0]);
		n++;
	}
	ck_assert_uint_eq(at, log->n_slots);
	return n;
}

static uint64_t count_all(const struct drain *d)
{
	uint64_t n = 0;

	for (size_t i = 0; i < d->n_logs; i++)
		n += count_entries(d->logs[i]) + d->logs[i]->n_open + d->logs[i]->lost[LOSS_FULL];
	return n;
}

static void run_capture(uint64_t *n_spans)
{
	uint32_t word;

	drained_init();
	drained_start();
	word = drained.drain.word;
	await_all();
	drained_visit();
	fixture_publish(0);
	await_all();
	drained_finish();
	ck_assert_uint_lt(word >> 2, N_CAPTURES + 2);
	ck_assert_uint_eq(count_all(&drained.drain), atomic_load(&n_begun[word >> 2]));
	ck_assert_uint_eq(drained.drain.n_broken, 0);
	*n_spans += atomic_load(&n_begun[word >> 2]);
	drain_deinit(&drained.drain);
}

START_TEST(captures_in_a_row_lose_nothing_uncounted)
{
	int64_t end_ns = monotonic_ns() + ENOUGH_NS;
	pthread_t threads[N_THREADS];
	uint64_t n_spans = 0;
	int n = 0;

	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, annotate, &n_rounds[i]);
	while (n < N_CAPTURES && (n < 20 || monotonic_ns() < end_ns)) {
		run_capture(&n_spans);
		n++;
	}
	quit = 1;
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("# %d captures with %llu spans\n", n, (unsigned long long)n_spans);
	ck_assert_uint_gt(n_spans, (unsigned)n);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(captures_in_a_row_lose_nothing_uncounted),
	{NULL},
};

UNIT_MAIN("captures", .set_up = fixture_open, .tear_down = fixture_close, .tests = tests)
