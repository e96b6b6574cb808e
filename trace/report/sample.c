/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations; see sample.h. Buckets are of width 1 up to 256; above, each power of two is divided into 128 of them.
 */
#include "trace/report/sample.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "trace/percentile.h"

#define BITS 7
#define PARTS (1 << BITS)
#define N_BUCKETS ((63 - BITS + 1) * PARTS)

/* --- buckets ------------------------------------------------------------------------------- */

static size_t find_bucket(int64_t value)
{
	int shift;

	if (value < PARTS)
		return value < 0 ? 0 : (size_t)value;
	shift = 63 - __builtin_clzll((unsigned long long)value) - BITS;
	return (size_t)(shift + 1) * PARTS + (size_t)(value >> shift) % PARTS;
}

/* The middle of it. */
static int64_t get_value(size_t bucket)
{
	size_t shift = bucket / PARTS;

	if (shift <= 1)
		return (int64_t)bucket;
	shift--;
	return ((int64_t)(PARTS + bucket % PARTS) << shift) + (INT64_C(1) << (shift - 1));
}

int sample_coarsen(struct sample *s)
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
	int rc = 0;

	for (uint64_t i = 0; i < from->n && rc == 0; i++)
		rc = sample_add(s, from->values[i]);
	return rc;
}

int sample_take(struct sample *s, struct sample *from)
{
	int rc;

	if (s->n == 0) {
		sample_deinit(s);
		*s = *from;
		*from = (struct sample){.n = 0};
		return 0;
	}
	rc = from->buckets ? take_buckets(s, from) : take_values(s, from);
	sample_deinit(from);
	return rc;
}

void sample_deinit(struct sample *s)
{
	free(s->values);
	free(s->buckets);
	*s = (struct sample){.n = 0};
}

/* --- what they amount to ------------------------------------------------------------------- */

int64_t sample_percentile(struct sample *s, unsigned int percent)
{
	uint64_t rank;
	size_t i = 0;

	if (s->n == 0)
		return 0;
	if (!s->buckets)
		return percentile_select(s->values, s->n, percent);
	rank = percentile_rank(s->n, percent);
	while (rank >= s->buckets[i])
		rank -= s->buckets[i++];
	return get_value(i);
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

static int compare(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left;
	int64_t b = *(const int64_t *)right;

	return a < b ? -1 : a > b;
}

void sample_sort(struct sample *s)
{
	if (s->values && s->n)
		qsort(s->values, s->n, sizeof *s->values, compare);
}

struct sample_group sample_next(const struct sample *s, size_t *at)
{
	struct sample_group group = {0, 0};

	if (s->buckets) {
		while (*at < N_BUCKETS && !s->buckets[*at])
			++*at;
		if (*at < N_BUCKETS)
			group = (struct sample_group){get_value(*at), s->buckets[*at]};
		++*at;
		return group;
	}
	for (; *at < s->n && (group.n == 0 || s->values[*at] == group.value); ++*at)
		group = (struct sample_group){s->values[*at], group.n + 1};
	return group;
}
