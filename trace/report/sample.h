/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations of one name, for percentiles and comparisons: each as it is while they are few; beyond that counted in buckets whose
 * middle is off by at most 1/256 (0.4 %). So one name takes 128 KiB at most, and all of a trace's 8 bytes an event, at worst.
 */
#ifndef TRACE_REPORT_SAMPLE_H
#define TRACE_REPORT_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

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
uint64_t sample_count_above(const struct sample *s, double limit);

/* Equal values, ascending. */
struct sample_group {
	int64_t value;
	uint64_t n;
};

/* Puts all into buckets. 0 or -ENOMEM. */
int sample_coarsen(struct sample *s);
/* Makes the groups of values ready to be read. */
void sample_sort(struct sample *s);
/* The next group from |*at| on, which begins at 0 and is moved on; n is 0 at the end. */
struct sample_group sample_next(const struct sample *s, size_t *at);

#endif
