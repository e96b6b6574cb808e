/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the statistical tests: their results for known samples, and how often they are wrong
 * if there is nothing to find.
 */
#include "trace/report/stretches.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>

#include "tests/unit/unit.h"

#define N_KEYS 65536
#define LIMIT_NS 1000

static struct stretches a;
static struct stretches b;
static const int64_t limits_ns[STRETCHES_LIMITS] = {LIMIT_NS, LIMIT_NS, LIMIT_NS, LIMIT_NS};

static void set_up(void)
{
	a = (struct stretches){.n_keys = N_KEYS};
	b = (struct stretches){.n_keys = N_KEYS};
}

static void tear_down(void)
{
	stretches_deinit(&a);
	stretches_deinit(&b);
}

static void put(struct stretches *s, uint32_t key, double duration_ns)
{
	ck_assert_int_eq(stretches_add(s, key, llround(duration_ns), limits_ns), 0);
}

/*
 * Puts |n| spans, spread evenly over all keys, with the durations |first|,
 * |first| + |step|, and so on.
 */
static void put_row(struct stretches *s, int n, double first, double step)
{
	for (int i = 0; i < n; i++)
		put(s, (uint32_t)((int64_t)i * N_KEYS / n), first + i * step);
}

/* --- stretches ----------------------------------------------------------------------------- */

START_TEST(number_of_stretches_is_bounded)
{
	double total_ns = 0;
	uint64_t n = 0;

	/* The keys come in no particular order. */
	for (uint32_t i = 0; i < N_KEYS; i += 3)
		put(&a, i * 40503 % N_KEYS, i);
	ck_assert_uint_le(a.n, STRETCHES_MOST);
	ck_assert_uint_gt(a.n, STRETCHES_MOST / 2);
	for (size_t i = 0; i < a.n; i++) {
		n += a.v[i].n;
		total_ns += a.v[i].total_ns;
		if (i)
			ck_assert_uint_lt(a.v[i - 1].index, a.v[i].index);
	}
	ck_assert_uint_eq(n, (N_KEYS + 2) / 3);
	ck_assert_double_eq(total_ns, 3.0 * (double)((n - 1) * n / 2));
}
END_TEST

START_TEST(few_spans_have_a_stretch_each)
{
	put(&a, 70, 5);
	put(&a, 3, 7);
	put(&a, N_KEYS - 1, 9);
	ck_assert_uint_eq(a.n, 3);
	ck_assert_uint_eq(a.v[0].index, 3);
	ck_assert_int_eq(a.v[2].max_ns, 9);
}
END_TEST

/* --- durations ----------------------------------------------------------------------------- */

/* Welch's t is 8 / sqrt(1.5), with 14 degrees of freedom. */
START_TEST(means_are_tested_by_welch)
{
	struct stretches_test test;

	put_row(&a, 8, 1, 1);
	put_row(&b, 8, 9, 1);
	test = stretches_test_mean(&a, &b);
	ck_assert_double_eq_tol(test.p, 1.33e-5, 0.01e-5);
	ck_assert_int_eq(test.direction, 1);
	ck_assert_int_eq(stretches_test_mean(&b, &a).direction, -1);
	ck_assert_double_eq(stretches_test_mean(&a, &a).p, 1);
}
END_TEST

/* The 8 spans of |b| reach the limit: one of C(16, 8) choices of 8 spans, in each direction. */
START_TEST(shares_are_tested_by_fisher)
{
	struct stretches_test test;

	put_row(&a, 8, 1, 1);
	put_row(&b, 8, LIMIT_NS, 1);
	test = stretches_test_above(&a, &b, 0);
	ck_assert_double_eq_tol(test.p, 2.0 / 12870, 1e-9);
	ck_assert_int_eq(test.direction, 1);
	ck_assert_int_eq(stretches_test_above(&b, &a, 0).direction, -1);
}
END_TEST

/* Puts 2,000 spans of which 40 are slow: each 50th, or all of them at once. */
static void put_slow(struct stretches *s, bool is_at_once)
{
	for (int i = 0; i < 2000; i++)
		put(s, (uint32_t)(i * 32),
			(is_at_once ? i / 40 == 20 : i % 50 == 7) ? 20 * LIMIT_NS : 200 + i % 7);
}

START_TEST(a_tail_is_found_where_it_goes_on)
{
	put_row(&a, 2000, 200, 0.003);
	put_slow(&b, false);
	ck_assert_double_lt(stretches_test_above(&a, &b, 2).p, 1e-8);
	ck_assert_double_lt(stretches_test_max(&a, &b).p, 1e-6);
	ck_assert_double_lt(stretches_test_mean(&a, &b).p, 1e-6);
}
END_TEST

START_TEST(one_slow_moment_is_chance)
{
	put_row(&a, 2000, 200, 0.003);
	put_slow(&b, true);
	ck_assert_double_gt(stretches_test_above(&a, &b, 2).p, 0.1);
	ck_assert_double_gt(stretches_test_max(&a, &b).p, 0.1);
	ck_assert_double_gt(stretches_test_mean(&a, &b).p, 0.1);
}
END_TEST

/* Some spans in a fifth of the recording are slow: this fills several stretches, as one event. */
START_TEST(a_slow_fifth_is_seen_in_wider_stretches)
{
	double p;
	int n_widened = 0;

	put_row(&a, 640, 200, 0.003);
	for (int i = 0; i < 640; i++)
		put(&b, (uint32_t)(i * 102),
			i / 128 == 1 && i % 9 == 0 ? 20 * LIMIT_NS : 200 + i % 7);
	p = stretches_test_above(&a, &b, 2).p;
	for (; stretches_widen_both(&a, &b); n_widened++)
		p = fmax(p, stretches_test_above(&a, &b, 2).p);
	ck_assert_int_eq(n_widened, 2);
	ck_assert_uint_ge(a.n, STRETCHES_FEWEST);
	ck_assert_uint_ge(b.n, STRETCHES_FEWEST);
	ck_assert_double_gt(p, 0.01);
}
END_TEST

START_TEST(a_longest_span_alone_is_chance)
{
	put_row(&a, 1000, 200, 0.01);
	put_row(&b, 1000, 200, 0.01);
	put(&b, 77, 1e9);
	ck_assert_double_gt(stretches_test_max(&a, &b).p, 0.1);
	ck_assert_int_eq(stretches_test_max(&a, &b).direction, 1);
}
END_TEST

/* The longest of more spans is longer: that alone proves nothing. */
START_TEST(more_spans_have_a_longer_one)
{
	put_row(&a, 100, 0, 1);
	put_row(&b, 100000, 0, 0.002);
	ck_assert_double_gt(stretches_test_max(&a, &b).p, 0.5);
}
END_TEST

START_TEST(too_few_durations_give_no_result)
{
	put_row(&a, STRETCHES_FEWEST - 1, 1, 1);
	put_row(&b, 1000, 5000, 1);
	ck_assert_double_lt(stretches_test_mean(&a, &b).p, 0);
	ck_assert_double_lt(stretches_test_above(&a, &b, 0).p, 0);
	ck_assert_double_lt(stretches_test_max(&a, &b).p, 0);
	ck_assert_double_lt(stretches_test_total(&a, &b, 1, 1).p, 0);
}
END_TEST

/* --- sums ---------------------------------------------------------------------------------- */

START_TEST(small_changes_of_a_steady_count_are_found)
{
	put_row(&a, 400, 10, 0);
	put_row(&b, 440, 10, 0);
	ck_assert_double_lt(stretches_test_count(&a, &b, 1, 1).p, 1e-4);
	ck_assert_double_lt(stretches_test_total(&a, &b, 1, 1).p, 1e-4);
	/* The rate is the same. */
	ck_assert_double_gt(stretches_test_count(&a, &b, 400, 440).p, 0.9);
}
END_TEST

/* There are as many spans, but they come in three bursts. */
START_TEST(bursts_are_counted_with_care)
{
	put_row(&a, 400, 10, 0);
	for (int i = 0; i < 440; i++)
		put(&b, (uint32_t)(i % 3 * 20000 + i), 10);
	ck_assert_double_gt(stretches_test_count(&a, &b, 1, 1).p, 0.1);
}
END_TEST

START_TEST(few_counts_differ_from_many)
{
	struct stretches_test test;

	put_row(&a, 3, 10, 0);
	put_row(&b, 300, 10, 0);
	test = stretches_test_count(&a, &b, 1, 1);
	ck_assert_double_lt(test.p, 1e-6);
	ck_assert_int_eq(test.direction, 1);
	ck_assert_double_lt(stretches_test_count(&a, &a, 1, 1).p, 0);
}
END_TEST

/* --- false alarms -------------------------------------------------------------------------- */

static uint64_t lot;

static double draw(void)
{
	lot ^= lot << 13;
	lot ^= lot >> 7;
	lot ^= lot << 17;
	return (double)(lot >> 11) / (double)(UINT64_C(1) << 53);
}

static double draw_normal(void)
{
	return sqrt(-2 * log(1 - draw())) * cos(2 * M_PI * draw());
}

/*
 * Puts about |n| spans at random times, whose logarithms have a normal distribution. Each depends
 * on the one before by |memory|, as if the machine were busy for a while.
 */
static void put_noise(struct stretches *s, int n, double memory)
{
	double level = draw_normal();
	double at = 0;

	for (;;) {
		at -= log(1 - draw()) * N_KEYS / n;
		if (at >= N_KEYS)
			return;
		level = memory * level + sqrt(1 - memory * memory) * draw_normal();
		/* Each assertion costs check a message, and here there are too many. */
		if (stretches_add(s, (uint32_t)at, llround(300 * exp(level)), limits_ns))
			ck_abort_msg("out of memory");
	}
}

static struct stretches_test run_test(int which)
{
	switch (which) {
	case 0:
		return stretches_test_mean(&a, &b);
	case 1:
		return stretches_test_above(&a, &b, 0);
	case 2:
		return stretches_test_max(&a, &b);
	case 3:
		return stretches_test_count(&a, &b, 1, 1);
	}
	return stretches_test_total(&a, &b, 1, 1);
}

#define N_TESTS 5
#define N_PAIRS 2000

/* The random numbers are always the same, and so is the result. */
START_TEST(false_alarms_are_as_rare_as_promised)
{
	static const struct {
		int n_a;
		int n_b;
		double memory;
	} cases[] = {{20, 20, 0}, {40, 400, 0}, {400, 400, 0}, {1000, 1000, 0.9}, {3000, 500, 0.8}};
	int n_alarms[N_TESTS] = {0};

	lot = 88172645463325252u + (uint64_t)_i;
	for (int i = 0; i < N_PAIRS; i++) {
		put_noise(&a, cases[_i].n_a, cases[_i].memory);
		put_noise(&b, cases[_i].n_b, cases[_i].memory);
		for (int k = 0; k < N_TESTS; k++) {
			bool is_sum = k > 2;

			if (is_sum && cases[_i].n_a != cases[_i].n_b)
				continue;
			n_alarms[k] += fabs(run_test(k).p) < 0.01;
		}
		tear_down();
	}
	for (int k = 0; k < N_TESTS; k++)
		ck_assert_msg(n_alarms[k] <= N_PAIRS * 25 / 1000,
			"case %d, test %d: %d alarms in %d", _i, k, n_alarms[k], N_PAIRS);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(number_of_stretches_is_bounded),
	UNIT_TEST(few_spans_have_a_stretch_each),
	UNIT_TEST(means_are_tested_by_welch),
	UNIT_TEST(shares_are_tested_by_fisher),
	UNIT_TEST(a_tail_is_found_where_it_goes_on),
	UNIT_TEST(one_slow_moment_is_chance),
	UNIT_TEST(a_slow_fifth_is_seen_in_wider_stretches),
	UNIT_TEST(a_longest_span_alone_is_chance),
	UNIT_TEST(more_spans_have_a_longer_one),
	UNIT_TEST(too_few_durations_give_no_result),
	UNIT_TEST(small_changes_of_a_steady_count_are_found),
	UNIT_TEST(bursts_are_counted_with_care),
	UNIT_TEST(few_counts_differ_from_many),
	UNIT_LOOP(false_alarms_are_as_rare_as_promised, 5),
	{NULL},
};

UNIT_MAIN("stretches", .set_up = set_up, .tear_down = tear_down, .timeout_s = 60, .tests = tests)
