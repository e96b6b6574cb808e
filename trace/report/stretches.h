/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spans of one name, added up in stretches of a trace, and tests of whether two traces differ in them by more than chance.
 *
 * Spans that follow each other are often alike: all are slow while the machine is busy. A test that takes each span for an
 * independent draw is too sure then. These tests take the stretches for independent draws, at most STRETCHES_MOST of them, so
 * that what varies from one part of a recording to another counts as chance. A name with few spans has a stretch for each.
 * What differs only from one recording to the next, such as another machine, is in no stretch and is not counted as chance.
 */
#ifndef TRACE_REPORT_STRETCHES_H
#define TRACE_REPORT_STRETCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRETCHES_MOST \
	32 /* that are not empty; there are more than half as many if there are more spans */
#define STRETCHES_FEWEST 8 /* spans on a side: with fewer its durations are not tested */
#define STRETCHES_LIMITS 4

struct stretch {
	uint32_t index; /* its keys are from index << shift to (index + 1) << shift */
	uint64_t n; /* spans that begin in it */
	uint64_t n_above[STRETCHES_LIMITS]; /* of them last as long as the limit, or longer */
	double total_ns;
	int64_t max_ns;
};

/* All zero but |n_keys| is empty. */
struct stretches {
	uint32_t n_keys; /* > 0; keys are smaller */
	struct stretch *v; /* by index; those without spans are left out */
	size_t n;
	size_t n_allocated;
	unsigned int shift;
	size_t last; /* the stretch of the last span that was added */
};

struct stretches_test {
	double p; /* that one and the same program would differ by as much, two-sided; negative: too few spans to tell */
	int direction; /* 1: b has the larger values, -1: a has, 0: neither */
	double variance; /* of the difference, as the stretches have it; 0: the test does not ask for it */
};

void stretches_deinit(struct stretches *s);
/* Adds a span. 0 or -ENOMEM. */
int stretches_add(struct stretches *s, uint32_t key, int64_t duration_ns,
	const int64_t limits_ns[STRETCHES_LIMITS]);
/* Adds to the total only, of a span that began before. 0 or -ENOMEM. */
int stretches_add_rest(struct stretches *s, uint32_t key, int64_t duration_ns);

/*
 * Makes the stretches of both twice as long if STRETCHES_FEWEST of either remain, or more; else returns false. What lasts longer than
 * a stretch shows there as a larger variance.
 */
bool stretches_widen_both(struct stretches *a, struct stretches *b);

/* Mean durations: Welch's t-test of the stretches' means, weighted by their spans. */
struct stretches_test stretches_test_mean(const struct stretches *a, const struct stretches *b);
/*
 * The share of the spans that reach a limit: Fisher's exact test; where they cluster in stretches more than independent spans
 * would, the normal test with the variance that the stretches have, if that is less sure. With a limit that is a quantile of
 * both traces together this is the median test, for any quantile.
 */
struct stretches_test stretches_test_above(
	const struct stretches *a, const struct stretches *b, size_t limit);
/* The longest: how many stretches of one side have a longer span than any of the other side's (Rosenbaum's test). */
struct stretches_test stretches_test_max(const struct stretches *a, const struct stretches *b);
/* Spans, and their time, divided by |per_a| and |per_b|: Welch's t-test of the stretches, empty ones included. */
struct stretches_test stretches_test_count(
	const struct stretches *a, const struct stretches *b, double per_a, double per_b);
struct stretches_test stretches_test_total(
	const struct stretches *a, const struct stretches *b, double per_a, double per_b);

#endif
