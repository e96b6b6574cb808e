/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether two samples differ in more than chance: the rank-sum test of Wilcoxon, Mann and Whitney, two-sided, by the normal
 * approximation with the correction for ties.
 */
#ifndef TRACE_REPORT_RANK_SUM_H
#define TRACE_REPORT_RANK_SUM_H

struct sample;

#define RANK_SUM_FEWEST 8 /* with fewer on either side the approximation says nothing */

struct rank_sum {
	double p; /* that samples of one and the same distribution differ by as much; negative: too few */
	int direction; /* 1: b's are the larger ones, by their ranks; -1: a's; 0: neither, or too few */
};

/* Both are sorted, or put into buckets where one is. 0 or -ENOMEM. */
int rank_sum_test(struct sample *a, struct sample *b, struct rank_sum *out);

#endif
