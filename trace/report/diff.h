/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changed between two traces: steps, and spans, kernels and async spans by name, each in nine metrics. Each metric has a
 * test of its own (stretches.h), so that a change of the tail does not hide behind a median that stays. The more tests there
 * are, the less chance each is given (Holm's correction): of all together, in one comparison of a hundred at most a test is
 * wrong where the traces do not differ.
 */
#ifndef TRACE_REPORT_DIFF_H
#define TRACE_REPORT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/report/digest.h"
#include "trace/report/pace.h"

#define DIFF_P 0.01 /* a corrected p below this is beyond chance */
#define DIFF_LOST_SHARE \
	0.001 /* of the events of a trace: if more were lost, numbers of events are not compared */
#define DIFF_SHARE 0.01 /* of the busy time: names above this are judged if no name is given */

enum diff_metric {
	DIFF_TOTAL, /* of the durations, divided by units of work (pace.h) */
	DIFF_MEAN,
	DIFF_P50,
	DIFF_P90,
	DIFF_P99,
	DIFF_P999,
	DIFF_MAX,
	DIFF_COUNT, /* of spans that began in the time that is looked at, divided likewise */
	DIFF_RATE, /* the same a second of the recording; less is worse, as of a throughput */
	DIFF_METRICS
};

enum diff_verdict {
	DIFF_APPEARED, /* only in the second */
	DIFF_VANISHED, /* only in the first */
	DIFF_TOO_FEW, /* on either side, to tell */
	DIFF_LOST, /* a trace lost so many events that their number says nothing */
	DIFF_NOT_SURE, /* may be chance */
	DIFF_SURE, /* beyond chance */
};

/* One metric of a name. */
struct diff_measure {
	double a; /* ns, spans, or spans a second; not divided by units; NaN: no span is whole */
	double b;
	double change; /* b's, less a's, of a's, after the division; infinite from 0 */
	double p; /* of its test; negative: too few */
	double p_corrected; /* for all tests of the comparison */
	double variance; /* by the first test, of the shortest stretches */
	int direction; /* by the test: 1: b's is larger, -1: a's is */
	enum diff_verdict verdict;
};

struct diff_row {
	enum digest_list list; /* what it is */
	bool is_same; /* does not differ in any metric, but perhaps in the rate */
	bool is_request; /* all are async spans, or spans outside of others */
	const char *name; /* of one of the views */
	struct row *a; /* NULL: appeared */
	struct row *b; /* NULL: vanished */
	struct diff_measure measures
		[DIFF_METRICS]; /* of a trace that has none: 0 spans, and durations that nobody knows */
	uint64_t lost
		[2]; /* events that may have been of this name, if so many that counts are no evidence; else 0 */
	enum diff_verdict verdict; /* DIFF_SURE: one metric at least is */
	double p; /* the least corrected one; negative: there was no test */
	double share; /* of the busy time, in the trace in which it is larger */
	double growth_ns; /* of the total time, a unit of work */
	double weight_ns; /* the time a unit of work that the largest sure change amounts to; 0: none is sure */
	unsigned int failed; /* bits by metric: a limit was passed, says diff_judge() */
};

struct diff {
	struct diff_row *
		v; /* that differ in anything: steps, then by weight; behind them those that do not */
	size_t n;
	size_t n_same; /* names that do not differ in any metric */
	size_t n_compared; /* that are in both: these, and rows */
	size_t n_steps_compared; /* names of steps among them */
	size_t n_tests;
	uint64_t
		lost[2]; /* events of any kind, of each trace; 0: at most DIFF_LOST_SHARE of them */
	uint64_t lost_asyncs[2]; /* besides: async spans, of which too many were open; any number */
	struct pace pace;
};

/*
 * Borrows both, whose steps it gathers. |per|: see pace_make(). 0, or a negative errno with |d|; diff_deinit() in any case.
 */
int diff_make(
	struct digest *a, struct digest *b, const char *per, struct diff *out, struct diag *d);
void diff_deinit(struct diff *diff);

/* "p99" */
const char *diff_get_metric_name(enum diff_metric metric);
/* DIFF_METRICS: none has that name. */
enum diff_metric diff_find_metric(const char *name, size_t n);
/* The time a unit of work, or so, that a metric's change amounts to. */
double diff_get_weight(
	const struct diff *diff, const struct diff_row *row, enum diff_metric metric);
/* The metrics whose change is sure, by that weight. The number of them. */
size_t diff_sort_metrics(
	const struct diff *diff, const struct diff_row *row, enum diff_metric out[DIFF_METRICS]);

/* --- limits -------------------------------------------------------------------------------- */

#define DIFF_USUAL DIFF_METRICS /* as a limit's metric: p50, p99 and total */

struct diff_limit {
	enum diff_metric metric;
	char *name; /* NULL: all names above DIFF_SHARE */
	double limit; /* 0.1: 10 % */
};

enum diff_outcome {
	DIFF_PASSED, /* changed for the better, or by no more than the limit */
	DIFF_MAYBE, /* changed by more, which may be chance */
	DIFF_UNTOLD, /* changed by more; there are too few to tell */
	DIFF_ABSENT, /* a name that was asked for is not in the second, so it did not get worse */
	DIFF_UNCOMPARED, /* events were lost */
	DIFF_MISSING, /* a name that was asked for has nothing that it can be compared with */
	DIFF_FAILED, /* changed by more than the limit, for the worse, beyond chance; or it is new */
};

/* One limit applied to one metric of one name. */
struct diff_judgement {
	const struct diff_limit *limit;
	enum diff_metric metric; /* DIFF_METRICS: of what is in neither trace */
	struct diff_row *row; /* NULL: there is none of that name */
	double p; /* corrected for all of these; negative: too few */
	enum diff_outcome outcome;
};

struct diff_judgements {
	struct diff_judgement *v; /* in the order of the limits, then of the rows */
	size_t n;
	size_t n_allocated;
};

/* The events lost of which a judgement is DIFF_UNCOMPARED: of the row, or of the trace. */
const uint64_t *diff_get_lost(const struct diff *diff, const struct diff_judgement *j);
/* Marks rows that failed. 0 or -ENOMEM; free |out->v| in any case. */
int diff_judge(struct diff *diff, const struct diff_limit *limits, size_t n_limits,
	struct diff_judgements *out);

#endif
