/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of durations. Buckets have width 1 up to 256; above that, each power of two is divided
 * into 128 buckets.
 */
#include "trace/report/sample.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/grow.h"

#define BITS 7
#define PARTS (1 << BITS)
#define N_BUCKETS ((63 - BITS + 1) * PARTS)

/* --- percentiles --------------------------------------------------------------------------- */

/*
 * Percentiles are by nearest rank: the smallest value that the given share of all values does not
 * exceed. Hoare's selection in Wirth's form finds them in linear time: only the part with the rank
 * is searched further. The pivot is chosen at random, so that no order of the values makes it slow.
 */

/* Returns the index of the percentile among |n| > 0 sorted values; |permille| is 1 to 1000. */
static size_t percentile_rank(size_t n, unsigned int permille)
{
	/* N * permille may overflow. */
	return n / 1000 * permille + (n % 1000 * permille + 999) / 1000 - 1;
}

/* Marsaglia's xorshift64 */
static uint64_t draw_lot(uint64_t *lot)
{
	*lot ^= *lot << 13;
	*lot ^= *lot >> 7;
	*lot ^= *lot << 17;
	return *lot;
}

/* Returns the percentile of |n| > 0 values, which it reorders. */
static int64_t percentile_select(int64_t *values, size_t n, unsigned int permille)
{
	ptrdiff_t rank = (ptrdiff_t)percentile_rank(n, permille);
	ptrdiff_t first = 0;
	ptrdiff_t last = (ptrdiff_t)n - 1;
	uint64_t lot = n;

	while (first < last) {
		int64_t pivot =
			values[first + (ptrdiff_t)(draw_lot(&lot) % (uint64_t)(last - first + 1))];
		ptrdiff_t i = first;
		ptrdiff_t j = last;

		while (i <= j) {
			while (values[i] < pivot)
				i++;
			while (values[j] > pivot)
				j--;
			if (i <= j) {
				int64_t old = values[i];

				values[i++] = values[j];
				values[j--] = old;
			}
		}
		/*
		 * Values up to j are at most the pivot, values from i on are at least the pivot,
		 * and values between them equal it.
		 */
		if (rank > j)
			first = i;
		if (rank < i)
			last = j;
	}
	return values[rank];
}

/* --- buckets ------------------------------------------------------------------------------- */

static size_t find_bucket(int64_t value)
{
	int shift;

	if (value < PARTS)
		return value < 0 ? 0 : (size_t)value;
	shift = 63 - __builtin_clzll((unsigned long long)value) - BITS;
	return (size_t)(shift + 1) * PARTS + (size_t)(value >> shift) % PARTS;
}

/* Returns the middle of a bucket. */
static int64_t bucket_get_value(size_t bucket)
{
	size_t shift = bucket / PARTS;

	if (shift <= 1)
		return (int64_t)bucket;
	shift--;
	return ((int64_t)(PARTS + bucket % PARTS) << shift) + (INT64_C(1) << (shift - 1));
}

/* Moves all values into buckets. 0 or -ENOMEM. */
static int sample_coarsen(struct sample *s)
{
	if (s->buckets)
		return 0;
	s->buckets = calloc(N_BUCKETS, sizeof *s->buckets);
	if (!s->buckets)
		return -ENOMEM;
	for (uint64_t i = 0; i < s->n; i++)
		s->buckets[find_bucket(s->values[i])]++;
	free(s->values);
	s->values = NULL;
	s->n_allocated = 0;
	return 0;
}

/* --- adding -------------------------------------------------------------------------------- */

int sample_add(struct sample *s, int64_t value)
{
	if (s->n == SAMPLE_EXACT && sample_coarsen(s))
		return -ENOMEM;
	if (s->buckets)
		s->buckets[find_bucket(value)]++;
	else if (grow(&s->values, &s->n_allocated, s->n + 1))
		return -ENOMEM;
	else
		s->values[s->n] = value;
	s->n++;
	return 0;
}

static int take_buckets(struct sample *s, const struct sample *from)
{
	if (sample_coarsen(s))
		return -ENOMEM;
	for (size_t i = 0; i < N_BUCKETS; i++)
		s->buckets[i] += from->buckets[i];
	s->n += from->n;
	return 0;
}

static int take_values(struct sample *s, const struct sample *from)
{
	int r = 0;

	for (uint64_t i = 0; i < from->n && r == 0; i++)
		r = sample_add(s, from->values[i]);
	return r;
}

int sample_take(struct sample *s, struct sample *from)
{
	int r;

	if (s->n == 0) {
		sample_deinit(s);
		*s = *from;
		*from = (struct sample){.n = 0};
		return 0;
	}
	r = from->buckets ? take_buckets(s, from) : take_values(s, from);
	sample_deinit(from);
	return r;
}

void sample_deinit(struct sample *s)
{
	free(s->values);
	free(s->buckets);
	*s = (struct sample){.n = 0};
}

/* --- groups of equal values ---------------------------------------------------------------- */

struct sample_group {
	int64_t value;
	uint64_t n;
};

static int compare_values(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left;
	int64_t b = *(const int64_t *)right;

	return a < b ? -1 : a > b;
}

/* Sorts the values, so that sample_next() returns groups in order. */
static void sample_sort(struct sample *s)
{
	if (s->values && s->n)
		qsort(s->values, s->n, sizeof *s->values, compare_values);
}

/* Returns the next group from |*at| on, which is 0 at first; n is 0 at the end. */
static struct sample_group sample_next(const struct sample *s, size_t *at)
{
	struct sample_group group = {0, 0};

	if (s->buckets) {
		while (*at < N_BUCKETS && !s->buckets[*at])
			++*at;
		if (*at < N_BUCKETS)
			group = (struct sample_group){bucket_get_value(*at), s->buckets[*at]};
		++*at;
		return group;
	}
	for (; *at < s->n && (group.n == 0 || s->values[*at] == group.value); ++*at)
		group = (struct sample_group){s->values[*at], group.n + 1};
	return group;
}

/* --- results ------------------------------------------------------------------------------- */

int64_t sample_percentile(struct sample *s, unsigned int percent)
{
	return sample_permille(s, 10 * percent);
}

int64_t sample_permille(struct sample *s, unsigned int permille)
{
	uint64_t rank;
	size_t i = 0;

	if (s->n == 0)
		return 0;
	if (!s->buckets)
		return percentile_select(s->values, s->n, permille);
	rank = percentile_rank(s->n, permille);
	while (rank >= s->buckets[i])
		rank -= s->buckets[i++];
	return bucket_get_value(i);
}

uint64_t sample_count_above(const struct sample *s, double limit)
{
	struct sample_group group;
	uint64_t n = 0;
	size_t at = 0;

	while ((group = sample_next(s, &at)).n)
		n += (double)group.value > limit ? group.n : 0;
	return n;
}

double sample_sum_excess(const struct sample *s, int64_t limit, int64_t base)
{
	struct sample_group group;
	double sum = 0;
	size_t at = 0;

	while ((group = sample_next(s, &at)).n)
		if (group.value >= limit)
			sum += (double)(group.value - base) * (double)group.n;
	return sum;
}

/* Two samples whose groups are read in order. */
struct sample_pair {
	const struct sample *sides[2];
	struct sample_group next[2];
	size_t at[2];
};

static struct sample_group pair_next(struct sample_pair *p)
{
	const struct sample_group *a = &p->next[0];
	const struct sample_group *b = &p->next[1];
	bool is_a = a->n && (!b->n || a->value <= b->value);
	struct sample_group group = {is_a ? a->value : b->value, 0};

	for (int i = 0; i < 2; i++) {
		if (!p->next[i].n || p->next[i].value != group.value)
			continue;
		group.n += p->next[i].n;
		p->next[i] = sample_next(p->sides[i], &p->at[i]);
	}
	return group;
}

/* Returns a limit between a value and the next larger one, so that it also separates buckets. */
static int64_t find_middle(int64_t below, int64_t value)
{
	return value - (value - below) / 2;
}

int sample_split(
	struct sample *a, struct sample *b, const double *shares, size_t n, int64_t *limits)
{
	struct sample_pair pair = {.sides = {a, b}};
	struct sample_group group = {-1, 0};
	double n_all = (double)(a->n + b->n);
	double n_above = n_all;
	double n_before = n_all;
	int64_t below = -1;
	int64_t limit = 0;
	size_t i = 0;

	if ((a->buckets || b->buckets) && (sample_coarsen(a) || sample_coarsen(b)))
		return -ENOMEM;
	sample_sort(a);
	sample_sort(b);
	pair.next[0] = sample_next(a, &pair.at[0]);
	pair.next[1] = sample_next(b, &pair.at[1]);
	/*
	 * The higher the limit, the fewer values reach it. Of the two limits next to the wanted
	 * share, the nearer one is taken if it separates values.
	 */
	while (i < n && (group = pair_next(&pair)).n) {
		int64_t next = find_middle(below, group.value);

		while (i < n && n_above <= shares[i] * n_all) {
			bool is_nearer = n_before == n_all ||
					 shares[i] * n_all - n_above < n_before - shares[i] * n_all;

			limits[i++] = is_nearer ? next : limit;
		}
		limit = next;
		n_before = n_above;
		n_above -= (double)group.n;
		below = group.value;
	}
	for (; i < n; i++)
		limits[i] = limit;
	return 0;
}
