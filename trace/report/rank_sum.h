/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether two samples differ in more than chance: the rank-sum test of Wilcoxon, Mann and Whitney, two-sided, by the normal
 * approximation with the correction for ties.
 */
#ifndef TRACE_REPORT_RANK_SUM_H
#define TRACE_REPORT_RANK_SUM_H

struct sample;

#define RANK_SUM_FEWEST 8 /* with fewer on either side the approximation says nothing */

/*
 * The probability that samples of one and the same distribution differ by as much. Both are sorted, or put into buckets where
 * one is. Negative: too few. 0 or -ENOMEM.
 */
int rank_sum_test(struct sample *a, struct sample *b, double *p);

#endif
