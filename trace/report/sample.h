/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations of one name, for percentiles and comparisons: each as it is while they are few; beyond that counted in buckets whose
 * middle is off by at most 1/256 (0.4 %). So one name takes 128 KiB at most, and all of a trace's 8 bytes an event, at worst.
 */
#ifndef TRACE_REPORT_SAMPLE_H
#define TRACE_REPORT_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#define SAMPLE_MAX_ERROR 256 /* of buckets: this part of a value */
#define SAMPLE_EXACT 16384 /* as many are kept as they are */

/* All zero is empty. */
struct sample {
	uint64_t n;
	int64_t *values; /* n of them, in any order; NULL once there are buckets */
	size_t n_allocated;
	uint64_t *buckets; /* NULL: values */
};

void sample_deinit(struct sample *s);
int sample_add(struct sample *s, int64_t value); /* >= 0. 0 or -ENOMEM */
/* Adds all of |from|, which is empty afterwards, also on failure. 0 or -ENOMEM. */
int sample_take(struct sample *s, struct sample *from);
/* By nearest rank (percentile.h); 0 if it is empty. Values may be put into another order. */
int64_t sample_percentile(struct sample *s, unsigned int percent);
int64_t sample_permille(struct sample *s, unsigned int permille);
uint64_t sample_count_above(const struct sample *s, double limit);
/* The sum of what all values of |limit| or more exceed |base| by. */
double sample_sum_excess(const struct sample *s, int64_t limit, int64_t base);
/*
 * The limits that, of all values of both together, the |shares| (0 to 1, descending) are as large as or larger, as nearly as equal
 * values permit. Values are put into another order, or into buckets where those of either are. 0 or -ENOMEM.
 */
int sample_split(
	struct sample *a, struct sample *b, const double *shares, size_t n, int64_t *limits);

#endif
