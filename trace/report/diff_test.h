/* SPDX-License-Identifier: Apache-2.0 */
/* The tests of a comparison (diff.h): each metric of each name that is in both traces. */
#ifndef TRACE_REPORT_DIFF_TEST_H
#define TRACE_REPORT_DIFF_TEST_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/report/stretches.h"

struct diag;
struct diff;
struct diff_functions;
struct diff_measure;
struct diff_row;
struct pace;
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

/*
 * Takes the result of a test with longer stretches than those of the tests before it. A few wide
 * stretches estimate the variance badly. Their test counts only if its variance is much larger than
 * that of the narrow stretches.
 */
void diff_measure_set_test(struct diff_measure *m, struct stretches_test test);
/* Returns (b - a) / a: 0 if both are equal, and infinite if only a is 0. */
double diff_find_change(double a, double b);
/*
 * A test can point in the other direction than the reported change. Then the change is not sure.
 */
void diff_measure_check_direction(struct diff_measure *m);

struct diff_p_value {
	double p;
	double *corrected;
};

/*
 * Holm's correction for several tests: the smallest p is multiplied by the number of tests, the
 * next one by one less, and so on; no corrected p is below the one before it.
 */
void diff_correct_p_values(struct diff_p_value *v, size_t n);

/*
 * Compares the functions of the digests' CPU samples (diff_functions.c). The digests are those of
 * the sides of |pace|. 0, or a negative errno with |d|; call diff_functions_deinit() in any case.
 */
int diff_functions_make(const struct pace *pace, struct diff_functions *out, struct diag *d);
void diff_functions_deinit(struct diff_functions *f);

#endif
