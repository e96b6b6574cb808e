/* SPDX-License-Identifier: Apache-2.0 */
/* The rank-sum test; see rank_sum.h. */
#include "trace/report/rank_sum.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "trace/report/sample.h"

struct ranks {
	double seen; /* values below */
	double sum_a; /* of the ranks of a's */
	double ties; /* sum of t^3 - t */
};

/* Equal values share the mean of their ranks. */
static void rank_group(struct ranks *r, double n_a, double n_b)
{
	double n = n_a + n_b;

	r->sum_a += n_a * (r->seen + (n + 1) / 2);
	r->ties += n * n * n - n;
	r->seen += n;
}

static struct ranks rank(const struct sample *a, const struct sample *b)
{
	struct ranks ranks = {.seen = 0};
	size_t at_a = 0;
	size_t at_b = 0;
	struct sample_group next_a = sample_next(a, &at_a);
	struct sample_group next_b = sample_next(b, &at_b);

	while (next_a.n || next_b.n) {
		bool is_a = next_a.n && (!next_b.n || next_a.value <= next_b.value);
		bool is_b = next_b.n && (!next_a.n || next_b.value <= next_a.value);

		rank_group(&ranks, is_a ? (double)next_a.n : 0, is_b ? (double)next_b.n : 0);
		if (is_a)
			next_a = sample_next(a, &at_a);
		if (is_b)
			next_b = sample_next(b, &at_b);
	}
	return ranks;
}

/* Half a rank is taken off for continuity. */
static double find_p(const struct ranks *r, double n_a, double n_b)
{
	double n = n_a + n_b;
	double off = fabs(r->sum_a - n_a * (n + 1) / 2) - 0.5;
	double variance = n_a * n_b / 12 * (n + 1 - r->ties / (n * (n - 1)));

	if (off <= 0 || variance <= 0)
		return 1;
	return erfc(off / sqrt(2 * variance));
}

static int find_direction(const struct ranks *r, double n_a, double n_b)
{
	double off = r->sum_a - n_a * (n_a + n_b + 1) / 2;

	return (off < 0) - (off > 0);
}

int rank_sum_test(struct sample *a, struct sample *b, struct rank_sum *out)
{
	struct ranks ranks;

	*out = (struct rank_sum){.p = -1};
	if (a->n < RANK_SUM_FEWEST || b->n < RANK_SUM_FEWEST)
		return 0;
	if ((a->buckets || b->buckets) && (sample_coarsen(a) || sample_coarsen(b)))
		return -ENOMEM;
	sample_sort(a);
	sample_sort(b);
	ranks = rank(a, b);
	out->p = find_p(&ranks, (double)a->n, (double)b->n);
	out->direction = find_direction(&ranks, (double)a->n, (double)b->n);
	return 0;
}
