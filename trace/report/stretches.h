/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums up the spans of one name in stretches of a trace, and tests whether two traces differ in
 * them by more than chance.
 *
 * Spans that follow each other are often alike: all are slow while the machine is busy. A test that
 * takes each span as an independent draw would then be too sure. These tests take the stretches, at
 * most STRETCHES_MOST, as independent draws, so that variation between parts of a recording counts
 * as chance. A name with few spans has a stretch for each. Differences between whole recordings,
 * such as another machine, do not show in stretches, and do not count as chance.
 */
#ifndef TRACE_REPORT_STRETCHES_H
#define TRACE_REPORT_STRETCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limit of stretches that are not empty; beyond it neighbours are merged, and over half remain */
#define STRETCHES_MOST 32
#define STRETCHES_FEWEST 8 /* a side with fewer spans is not tested for durations */
#define STRETCHES_LIMITS 4

struct stretch {
	uint32_t index; /* its keys are at least index << shift, and below (index + 1) << shift */
	uint64_t n; /* spans that begin in it */
	uint64_t n_above[STRETCHES_LIMITS]; /* spans that last as long as the limit, or longer */
	double total_ns;
	int64_t max_ns;
};

/* Stretches are empty if all but |n_keys| is zero. */
struct stretches {
	uint32_t n_keys; /* > 0; keys are smaller */
	struct stretch *v; /* sorted by index; stretches without spans are left out */
	size_t n;
	size_t n_allocated;
	unsigned int shift;
	size_t last; /* the stretch of the last span that was added */
};

struct stretches_test {
	/*
	 * Probability that one program differs by as much from itself, two-sided; negative: too few
	 * spans
	 */
	double p;
	int direction; /* 1: b has the larger values, -1: a has, 0: neither */
	/* Variance of the difference, by the stretches; 0: the test does not need it */
	double variance;
};

void stretches_deinit(struct stretches *s);
/* Adds a span. 0 or -ENOMEM. */
int stretches_add(struct stretches *s, uint32_t key, int64_t duration_ns,
	const int64_t limits_ns[STRETCHES_LIMITS]);
/* Adds a span that began before the recording, to the total only. 0 or -ENOMEM. */
int stretches_add_rest(struct stretches *s, uint32_t key, int64_t duration_ns);

/*
 * Makes the stretches of both twice as long if at least STRETCHES_FEWEST remain on each side; else
 * returns false. Disturbances that last longer than a stretch show as a larger variance of the long
 * ones.
 */
bool stretches_widen_both(struct stretches *a, struct stretches *b);

/* Tests mean durations: Welch's t-test of the stretches' means, weighted by their spans. */
struct stretches_test stretches_test_mean(const struct stretches *a, const struct stretches *b);
/*
 * Tests the share of spans that reach a limit, by Fisher's exact test. If they cluster in stretches
 * more than independent spans would, the normal test with the stretches' variance counts instead if
 * it gives a larger p. With a quantile of both traces together as the limit, this is the median
 * test for any quantile.
 */
struct stretches_test stretches_test_above(
	const struct stretches *a, const struct stretches *b, size_t limit);
/*
 * Tests the longest span: the number of stretches of one side with a span longer than all of the
 * other side (Rosenbaum's test).
 */
struct stretches_test stretches_test_max(const struct stretches *a, const struct stretches *b);
/*
 * These test the number of spans, and their total time, divided by |per_a| and |per_b|: Welch's
 * t-test of the stretches, empty ones included.
 */
struct stretches_test stretches_test_count(
	const struct stretches *a, const struct stretches *b, double per_a, double per_b);
struct stretches_test stretches_test_total(
	const struct stretches *a, const struct stretches *b, double per_a, double per_b);

#endif
