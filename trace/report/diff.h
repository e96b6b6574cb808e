/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changed between two traces: steps, and spans, kernels and async spans by name. Whether the durations of a name changed is
 * said by a rank-sum test (rank_sum.h), so that neither a few outliers nor the number of spans decide.
 */
#ifndef TRACE_REPORT_DIFF_H
#define TRACE_REPORT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/report/digest.h"

#define DIFF_P 0.01 /* less is no chance */

enum diff_verdict {
	DIFF_APPEARED, /* only in the second */
	DIFF_VANISHED, /* only in the first */
	DIFF_TOO_FEW, /* on either side, to tell */
	DIFF_NOT_SURE, /* may be chance */
	DIFF_SURE, /* the durations differ */
};

struct diff_row {
	enum digest_list list; /* what it is */
	const char *name; /* of one of the views */
	const struct row *a; /* NULL: appeared */
	const struct row *b; /* NULL: vanished */
	enum diff_verdict verdict;
	double p; /* of the test; negative: there was none */
	int direction; /* of the test: 1: b's durations are longer, -1: shorter, by their ranks */
};

struct diff {
	struct diff_row *
		v; /* that differ in anything: by list, and the largest change of the total time first */
	size_t n;
	size_t n_same; /* names that do not differ in count, total and percentiles */
	size_t n_compared; /* that are in both: these, and rows */
	size_t n_steps_compared; /* names of steps among them */
};

/* Borrows both, whose steps it gathers. 0 or -ENOMEM; diff_deinit() in any case. */
int diff_make(struct digest *a, struct digest *b, struct diff *out);
void diff_deinit(struct diff *diff);

/* b's p50 less a's, of a's; infinite where that is 0 and b's is not; 0 unless both are there. */
double diff_get_change(const struct diff_row *row);
/* What the total time grew by. */
int64_t diff_get_growth(const struct diff_row *row);
/* Whether p50 rose by more than |limit|, and there are too few to tell. */
bool diff_is_untold(const struct diff_row *row, double limit);
/* Whether p50 rose by more than |limit| (0.1: 10 %), and durations are longer for sure: a median can rise while most get shorter. */
bool diff_is_above(const struct diff_row *row, double limit);

#endif
