/* SPDX-License-Identifier: Apache-2.0 */
/* The tests of a comparison (diff.h): each metric of each name that is in both traces. */
#ifndef TRACE_REPORT_DIFF_TEST_H
#define TRACE_REPORT_DIFF_TEST_H

#include <stdbool.h>
#include <stddef.h>

struct diag;
struct diff;
struct diff_row;
struct tested;

struct diff_testing {
	const struct diff *diff; /* given by the caller */
	struct tested *v; /* the spans of the rows that are tested, in the order of the rows */
	size_t n;
};

/* True if both traces have the name, and one of them has enough spans. */
bool diff_row_is_tested(const struct diff_row *row);
/*
 * Reads the spans of tested rows. 0, or a negative errno with |d|; diff_testing_deinit() in any
 * case.
 */
int diff_testing_make(struct diff_testing *t, struct diag *d);
void diff_testing_deinit(struct diff_testing *t);
/*
 * Tests |row|, which is the one with index |place| among the tested rows, and sets p and direction
 * of its measures.
 */
void diff_test(struct diff_testing *t, size_t place, struct diff_row *row);

struct diff_p_value {
	double p;
	double *corrected;
};

/*
 * Holm's correction for several tests: the smallest p is multiplied by the number of tests, the
 * next one by one less, and so on; no corrected p is below the one before it.
 */
void diff_correct_p_values(struct diff_p_value *v, size_t n);

#endif
