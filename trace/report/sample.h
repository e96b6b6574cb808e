/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The durations of one name, for percentiles and comparisons. Up to SAMPLE_EXACT of them are kept
 * exactly. If there are more, all are counted in buckets, whose middle is off by at most 1/256
 * (0.4 %). So one name takes 128 KiB at most, and all names of a trace 8 bytes for each event at
 * worst.
 */
#ifndef TRACE_REPORT_SAMPLE_H
#define TRACE_REPORT_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#define SAMPLE_MAX_ERROR 256 /* the error of a bucket is at most value / SAMPLE_MAX_ERROR */
#define SAMPLE_EXACT 16384 /* number of values that are kept exactly */

/* A sample of all zero bytes is empty. */
struct sample {
	uint64_t n;
	int64_t *values; /* |n| values in any order; NULL once there are buckets */
	size_t n_allocated;
	uint64_t *buckets; /* NULL while there are |values| */
};

void sample_deinit(struct sample *s);
int sample_add(struct sample *s, int64_t value); /* |value| >= 0; 0 or -ENOMEM */
/* Moves all values of |from|, which is empty afterwards, also on failure. 0 or -ENOMEM. */
int sample_take(struct sample *s, struct sample *from);
/*
 * These return a percentile by nearest rank; 0 if the sample is empty. They may reorder the values.
 */
int64_t sample_percentile(struct sample *s, unsigned int percent);
int64_t sample_permille(struct sample *s, unsigned int permille);
uint64_t sample_count_above(const struct sample *s, double limit);
/* Returns the sum, over all values of |limit| or more, of value - |base|. */
double sample_sum_excess(const struct sample *s, int64_t limit, int64_t base);
/*
 * Finds, for each of |shares| (0 to 1, descending), the limit that this share of all values of both
 * samples reaches or exceeds, as closely as equal values permit. Values may be reordered; if one
 * sample has buckets, the other gets them, too. 0 or -ENOMEM.
 */
int sample_split(
	struct sample *a, struct sample *b, const double *shares, size_t n, int64_t *limits);

#endif
