/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up spans in stretches, and tests them. */
#include "trace/report/stretches.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* --- adding -------------------------------------------------------------------------------- */

void stretches_deinit(struct stretches *s)
{
	free(s->v);
	*s = (struct stretches){.n_keys = s->n_keys};
}

static void stretch_take(struct stretch *to, const struct stretch *from)
{
	to->n += from->n;
	for (size_t i = 0; i < STRETCHES_LIMITS; i++)
		to->n_above[i] += from->n_above[i];
	to->total_ns += from->total_ns;
	to->max_ns = from->max_ns > to->max_ns ? from->max_ns : to->max_ns;
}

/* Makes stretches twice as long: two neighbours become one. */
static void stretches_widen(struct stretches *s)
{
	size_t n = 0;

	s->shift++;
	for (size_t i = 0; i < s->n; i++) {
		struct stretch stretch = s->v[i];

		stretch.index >>= 1;
		if (n && s->v[n - 1].index == stretch.index)
			stretch_take(&s->v[n - 1], &stretch);
		else
			s->v[n++] = stretch;
	}
	s->n = n;
	s->last = 0;
}

/*
 * Returns the place of the first stretch with that index or a larger one. Spans mostly come in
 * order of time.
 */
static size_t stretches_find(const struct stretches *s, uint32_t index)
{
	size_t first = 0;
	size_t n = s->n;

	if (n && s->v[n - 1].index < index)
		return n;
	while (n) {
		size_t half = n / 2;

		if (s->v[first + half].index < index) {
			first += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return first;
}

static int stretches_insert(struct stretches *s, uint32_t key)
{
	size_t at = stretches_find(s, key >> s->shift);

	if (at == s->n || s->v[at].index != key >> s->shift) {
		if (grow(&s->v, &s->n_allocated, s->n + 1))
			return -ENOMEM;
		memmove(&s->v[at + 1], &s->v[at], (s->n - at) * sizeof *s->v);
		s->v[at] = (struct stretch){.index = key >> s->shift};
		s->n++;
	}
	s->last = at;
	while (s->n > STRETCHES_MOST) {
		stretches_widen(s);
		s->last = stretches_find(s, key >> s->shift);
	}
	return 0;
}

int stretches_add(struct stretches *s, uint32_t key, int64_t duration_ns,
	const int64_t limits_ns[STRETCHES_LIMITS])
{
	struct stretch span = {.n = 1, .total_ns = (double)duration_ns, .max_ns = duration_ns};

	for (size_t i = 0; i < STRETCHES_LIMITS; i++)
		span.n_above[i] = duration_ns >= limits_ns[i];
	if ((!s->n || s->v[s->last].index != key >> s->shift) && stretches_insert(s, key))
		return -ENOMEM;
	stretch_take(&s->v[s->last], &span);
	return 0;
}

int stretches_add_rest(struct stretches *s, uint32_t key, int64_t duration_ns)
{
	if ((!s->n || s->v[s->last].index != key >> s->shift) && stretches_insert(s, key))
		return -ENOMEM;
	s->v[s->last].total_ns += (double)duration_ns;
	return 0;
}

/* Returns the number of stretches after a doubling of their length. */
static size_t stretches_count_wider(const struct stretches *s)
{
	size_t n = s->n;

	for (size_t i = 1; i < s->n; i++)
		n -= s->v[i - 1].index >> 1 == s->v[i].index >> 1;
	return n;
}

bool stretches_widen_both(struct stretches *a, struct stretches *b)
{
	if (stretches_count_wider(a) < STRETCHES_FEWEST ||
		stretches_count_wider(b) < STRETCHES_FEWEST)
		return false;
	stretches_widen(a);
	stretches_widen(b);
	return true;
}

/* --- distributions ------------------------------------------------------------------------- */

/* This is not lgamma(), because that writes a global variable. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* Returns the continued fraction of the incomplete beta function, by Lentz's method. */
static double find_beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1;
	double d = 1 - (a + b) * x / (a + 1);
	double fraction;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	fraction = d;
	for (int m = 1; m <= 500; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		fraction *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		fraction *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return fraction;
}

/* Returns the regularized incomplete beta function. */
static double find_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * find_beta_fraction(a, b, x) / a;
	return 1 - front * find_beta_fraction(b, a, 1 - x) / b;
}

/* Returns the probability that Student's t is as far from 0 as |t|, on either side. */
static double find_p_of_t(double t, double freedom)
{
	return isfinite(t) ? find_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) : 0;
}

static double log_choose(double n, double k)
{
	return log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1);
}

/*
 * Returns the p-value of shares |x_a| of |n_a| and |x_b| of |n_b|: twice the tail of the
 * hypergeometric distribution on the observed side.
 */
static double find_p_of_shares(double x_a, double n_a, double x_b, double n_b)
{
	double x = x_a + x_b;
	double step = x_a * n_b <= x_b * n_a ? -1 : 1;
	double term = exp(log_choose(n_a, x_a) + log_choose(n_b, x_b) - log_choose(n_a + n_b, x));
	double sum = 0;

	for (double k = x_a; k >= 0 && k <= n_a && k <= x && x - k <= n_b && term > sum * 1e-16;
		k += step) {
		sum += term;
		term *= step < 0 ? k * (n_b - x + k) / ((n_a - k + 1) * (x - k + 1))
				 : (n_a - k) * (x - k) / ((k + 1) * (n_b - x + k + 1));
	}
	return fmin(1, 2 * sum);
}

/* --- tests of durations -------------------------------------------------------------------- */

/* An estimate for one of the two traces that are compared. */
struct estimate {
	double value;
	double variance;
	double freedom; /* degrees of freedom of the variance */
};

static struct stretch stretches_sum(const struct stretches *s)
{
	struct stretch sum = {.n = 0};

	for (size_t i = 0; i < s->n; i++)
		stretch_take(&sum, &s->v[i]);
	return sum;
}

static struct stretches_test test_welch(const struct estimate *a, const struct estimate *b)
{
	double variance = a->variance + b->variance;
	double off = b->value - a->value;
	double freedom = 1;

	if (off == 0)
		return (struct stretches_test){.p = 1};
	if (variance > 0)
		freedom = variance * variance /
			  (a->variance * a->variance / a->freedom +
				  b->variance * b->variance / b->freedom);
	return (struct stretches_test){
		find_p_of_t(off / sqrt(variance), freedom), off > 0 ? 1 : -1, variance};
}

static bool sides_have_too_few(const struct stretches *a, const struct stretches *b)
{
	return a->n < 2 || b->n < 2 || stretches_sum(a).n < STRETCHES_FEWEST ||
	       stretches_sum(b).n < STRETCHES_FEWEST;
}

/*
 * Tests with a pooled variance: a side with few spans may lack all of the rare long ones, and then
 * seems to vary little.
 */
static struct stretches_test test_pooled(
	const struct estimate *a, double n_a, const struct estimate *b, double n_b)
{
	double freedom = a->freedom + b->freedom;
	double variance =
		(a->variance * n_a * a->freedom + b->variance * n_b * b->freedom) / freedom;
	struct estimate all = {a->value, variance * (1 / n_a + 1 / n_b), freedom};
	struct estimate known = {b->value, 0, 1};

	return test_welch(&all, &known);
}

/* Estimates the mean as the ratio of two sums; its variance is that of the residuals. */
static struct estimate estimate_mean(const struct stretches *s)
{
	struct stretch sum = stretches_sum(s);
	double n = (double)sum.n;
	struct estimate e = {sum.total_ns / n, 0, (double)s->n - 1};

	for (size_t i = 0; i < s->n; i++) {
		double rest = s->v[i].total_ns - e.value * (double)s->v[i].n;

		e.variance += rest * rest;
	}
	e.variance *= (double)s->n / ((double)s->n - 1) / (n * n);
	return e;
}

struct stretches_test stretches_test_mean(const struct stretches *a, const struct stretches *b)
{
	struct stretches_test test;
	struct estimate in_a;
	struct estimate in_b;

	if (sides_have_too_few(a, b))
		return (struct stretches_test){.p = -1};
	in_a = estimate_mean(a);
	in_b = estimate_mean(b);
	test = test_welch(&in_a, &in_b);
	test.p = fmax(test.p,
		test_pooled(&in_a, (double)stretches_sum(a).n, &in_b, (double)stretches_sum(b).n)
			.p);
	return test;
}

/*
 * Adds Pearson's sum, and its degrees of freedom. The sum is large if the stretches vary more than
 * independent spans would.
 */
static void add_clustering(const struct stretches *s, size_t limit, double *sum, double *freedom)
{
	struct stretch all = stretches_sum(s);
	double share = (double)all.n_above[limit] / (double)all.n;

	if (share <= 0 || share >= 1)
		return;
	for (size_t i = 0; i < s->n; i++) {
		double n = (double)s->v[i].n;
		double rest = (double)s->v[i].n_above[limit] - n * share;

		*sum += rest * rest / (n * share * (1 - share));
	}
	*freedom += (double)s->n - 1;
}

struct stretches_test stretches_test_above(
	const struct stretches *a, const struct stretches *b, size_t limit)
{
	struct stretch in_a = stretches_sum(a);
	struct stretch in_b = stretches_sum(b);
	double n_a = (double)in_a.n;
	double n_b = (double)in_b.n;
	double x_a = (double)in_a.n_above[limit];
	double x_b = (double)in_b.n_above[limit];
	double off = x_b / n_b - x_a / n_a;
	double share = (x_a + x_b) / (n_a + n_b);
	double sum = 0;
	double freedom = 0;
	double variance;
	double p;

	if (sides_have_too_few(a, b))
		return (struct stretches_test){.p = -1};
	p = find_p_of_shares(x_a, n_a, x_b, n_b);
	add_clustering(a, limit, &sum, &freedom);
	add_clustering(b, limit, &sum, &freedom);
	variance = share * (1 - share) * (1 / n_a + 1 / n_b);
	if (sum > freedom) {
		variance *= sum / freedom;
		p = fmax(p, find_p_of_t(off / sqrt(variance), freedom));
	}
	return (struct stretches_test){p, (off > 0) - (off < 0), variance};
}

/*
 * |more| has the longest span. If both sides were alike, the longest span of each stretch could be
 * of either side, in proportion to its number of stretches, or of spans. Returns the larger of the
 * two p-values.
 */
static double find_p_of_longest(const struct stretches *more, const struct stretches *less)
{
	int64_t longest_ns = stretches_sum(less).max_ns;
	double n = (double)(more->n + less->n);
	double share = (double)stretches_sum(more).n /
		       (double)(stretches_sum(more).n + stretches_sum(less).n);
	double by_stretches = 1;
	double by_spans = 1;
	double k = 0;

	for (size_t i = 0; i < more->n; i++) {
		if (more->v[i].max_ns <= longest_ns)
			continue;
		by_stretches *= ((double)more->n - k) / (n - k);
		by_spans *= share;
		k++;
	}
	return fmin(1, 2 * fmax(by_stretches, by_spans));
}

struct stretches_test stretches_test_max(const struct stretches *a, const struct stretches *b)
{
	int64_t max_a = stretches_sum(a).max_ns;
	int64_t max_b = stretches_sum(b).max_ns;

	if (sides_have_too_few(a, b))
		return (struct stretches_test){.p = -1};
	if (max_a == max_b)
		return (struct stretches_test){.p = 1};
	return max_b > max_a ? (struct stretches_test){find_p_of_longest(b, a), 1, 0}
			     : (struct stretches_test){find_p_of_longest(a, b), -1, 0};
}

/* --- tests of sums ------------------------------------------------------------------------- */

/*
 * Estimates a sum over all stretches, empty ones included. A recording begins and ends at any
 * point: this makes a difference of one span, |one|, even if all stretches are alike. A few spans
 * are taken as a Poisson process, since the variance of so few stretches means nothing.
 */
static struct estimate estimate_sum(
	const struct stretches *s, double sum, double one, const double *sums, double per)
{
	double n = (double)(((uint64_t)s->n_keys + (UINT64_C(1) << s->shift) - 1) >> s->shift);
	double n_empty = n - (double)s->n;
	double mean = sum / n;
	struct estimate e = {sum / per, n_empty * mean * mean, (double)s->n - 1};

	for (size_t i = 0; i < s->n; i++)
		e.variance += (sums[i] - mean) * (sums[i] - mean);
	e.variance *= n > 1 ? n / (n - 1) : 1;
	if (s->n < 2 || stretches_sum(s).n < STRETCHES_FEWEST) {
		e.variance = one * sum;
		e.freedom = STRETCHES_MOST - 1;
	}
	e.variance = (e.variance + one * one) / (per * per);
	return e;
}

static bool sides_have_too_few_to_count(const struct stretches *a, const struct stretches *b)
{
	return stretches_sum(a).n < STRETCHES_FEWEST && stretches_sum(b).n < STRETCHES_FEWEST;
}

static struct estimate estimate_count(const struct stretches *s, double per)
{
	double sums[STRETCHES_MOST];

	for (size_t i = 0; i < s->n; i++)
		sums[i] = (double)s->v[i].n;
	return estimate_sum(s, (double)stretches_sum(s).n, 1, sums, per);
}

struct stretches_test stretches_test_count(
	const struct stretches *a, const struct stretches *b, double per_a, double per_b)
{
	struct estimate in_a = estimate_count(a, per_a);
	struct estimate in_b = estimate_count(b, per_b);

	if (sides_have_too_few_to_count(a, b))
		return (struct stretches_test){.p = -1};
	return test_welch(&in_a, &in_b);
}

static struct estimate estimate_total(const struct stretches *s, double per)
{
	struct stretch sum = stretches_sum(s);
	double sums[STRETCHES_MOST];

	for (size_t i = 0; i < s->n; i++)
		sums[i] = s->v[i].total_ns;
	return estimate_sum(s, sum.total_ns, sum.total_ns / (double)sum.n, sums, per);
}

struct stretches_test stretches_test_total(
	const struct stretches *a, const struct stretches *b, double per_a, double per_b)
{
	struct estimate in_a = estimate_total(a, per_a);
	struct estimate in_b = estimate_total(b, per_b);

	if (sides_have_too_few(a, b))
		return (struct stretches_test){.p = -1};
	return test_welch(&in_a, &in_b);
}
