/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two traces: steps, and spans, kernels and async spans by name, each in nine metrics.
 * Each metric has a test of its own (stretches.h), so that a change of the tail does not hide
 * behind an unchanged median. P-values are corrected for the number of tests (Holm): if the traces
 * do not differ, at most one comparison in a hundred has a wrong test. Functions with CPU samples
 * are compared by their shares of the samples, and corrected for the number of their own tests.
 */
#ifndef TRACE_REPORT_DIFF_H
#define TRACE_REPORT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/report/digest.h"

struct diag;
struct digest;

/* --- the pace of two recordings --------------------------------------------------------------- */

/*
 * The pace of a recording: its progress at each moment, by the clock and by the work that was done.
 * With it, recordings of different length can be compared: totals and counts are divided by units
 * of work.
 *
 * The unit must be in both traces: a step, or else a request, or else a second. A request is an
 * async span, or a span that lies in no other span of its thread. Steps are no requests. Spans as
 * long as an eighth of the recording or longer, such as one around main(), do not count as spans
 * around others.
 */

#define PACE_MOMENTS 65536 /* number of equal parts of a recording */

enum pace_unit {
	PACE_STEP,
	PACE_REQUEST,
	PACE_SECOND,
	PACE_TRACE, /* the whole recording is one unit */
};

/* The pace of one trace. */
struct pace_side {
	const struct digest *digest;
	int64_t begin_ns;
	double length_ns; /* > 0 */
	double units; /* > 0 */
	uint32_t n_units; /* counted units: steps or requests that began in the digest's time */
	/* By moment: units that have begun at its end; NULL: the clock is the measure */
	uint32_t *begun;
	struct pace_name *names; /* indexed by the view's names */
	size_t n_names;
};

struct pace {
	enum pace_unit unit;
	const char *name; /* name of the step or request, borrowed from a view; or NULL */
	struct pace_side sides[2];
};

/*
 * |per| is "second", "trace", or the name of a step or request. With NULL the unit is the step that
 * takes the most time, else the request that takes the most time, else a second. Names that the
 * digests leave out count, too. 0, or a negative errno with |d|; call pace_deinit() in any case.
 */
int pace_make(const struct digest *a, const struct digest *b, const char *per, struct pace *out,
	struct diag *d);
void pace_deinit(struct pace *p);

/* Returns the moment of |at_ns|, 0 to PACE_MOMENTS - 1. */
uint32_t pace_find_moment(const struct pace_side *s, int64_t at_ns);
/*
 * Returns the unit of work that is done at |at_ns|, 0 to pace_count_keys() - 1; if units are not
 * counted, the moment.
 */
uint32_t pace_find_work(const struct pace_side *s, int64_t at_ns);
uint32_t pace_count_keys(const struct pace_side *s);
/* True if all |count| spans of that name on threads are requests. */
bool pace_are_requests(const struct pace_side *s, uint32_t name, uint64_t count);

/* --- comparisons ------------------------------------------------------------------------------ */

#define DIFF_P 0.01 /* a corrected p below this is beyond chance */
/* If a trace lost a larger share of its events, numbers of events are not compared */
#define DIFF_LOST_SHARE 0.001
/* A limit without a name applies to names with a larger share of the busy time */
#define DIFF_SHARE 0.01

enum diff_metric {
	DIFF_TOTAL, /* sum of durations, divided by units of work (pace.c) */
	DIFF_MEAN,
	DIFF_P50,
	DIFF_P90,
	DIFF_P99,
	DIFF_P999,
	DIFF_MAX,
	DIFF_COUNT, /* spans that began in the digest's time, divided by units of work */
	DIFF_RATE, /* spans that began, per second; a throughput: less is worse */
	DIFF_METRICS
};

enum diff_verdict {
	DIFF_APPEARED, /* only in the second trace */
	DIFF_VANISHED, /* only in the first trace */
	DIFF_TOO_FEW, /* a side has too few spans for a test */
	DIFF_LOST, /* a trace lost so many events that their number means nothing */
	DIFF_NOT_SURE, /* the change may be chance */
	DIFF_SURE, /* the change is beyond chance */
};

/* A metric of a name. */
struct diff_measure {
	double a; /* ns, spans, or spans per second, not divided by units; NaN: no span is whole */
	double b;
	double change; /* (b - a) / a, both divided by units; infinite if a is 0 */
	double p; /* p-value of its test; negative: too few spans */
	double p_corrected; /* p-value corrected for all tests of the comparison */
	double variance; /* variance in the first test, with the shortest stretches */
	int direction; /* 1: b is larger by the test, -1: a is */
	enum diff_verdict verdict;
};

struct diff_row {
	enum digest_list list; /* the list that it is in */
	bool is_same; /* no metric but perhaps the rate differs at all, not even by chance */
	bool is_request; /* all spans are async, or lie in no other span */
	const char *name; /* borrowed from one of the views */
	struct row *a; /* NULL: the name appeared */
	struct row *b; /* NULL: the name vanished */
	/* A trace without the name has 0 spans and unknown durations */
	struct diff_measure measures[DIFF_METRICS];
	/* Lost events that may have had this name, if too many for counts to be compared; else 0 */
	uint64_t lost[2];
	enum diff_verdict verdict; /* DIFF_SURE if at least one metric is */
	double p; /* the least corrected p-value; negative: there was no test */
	double share; /* share of the busy time, in the trace in which it is larger */
	double growth_ns; /* growth of the total time per unit of work */
	double weight_ns; /* time per unit of work of the largest sure change; 0: none is sure */
	unsigned int failed; /* bit mask of the metrics that failed in diff_judge() */
};

/* A function with CPU samples. */
struct diff_function {
	const char *name; /* borrowed from one of the views */
	uint64_t n_self[2]; /* samples of each trace in which it was innermost */
	uint64_t n_total[2]; /* samples whose stack has it */
	/* The values are shares of the trace's samples. */
	struct diff_measure self;
	struct diff_measure total;
};

/* All zero is empty. */
struct diff_functions {
	uint64_t n_samples[2]; /* if one is 0, nothing is compared */
	/*
	 * Functions that differ: changes beyond chance first, then by the differences of shares.
	 * Behind them |n_same| functions that do not
	 */
	struct diff_function *v;
	size_t n;
	size_t n_same;
	size_t n_tests;
};

struct diff {
	/* Rows that differ: steps first, then by weight; behind them |n_same| rows that do not */
	struct diff_row *v;
	size_t n;
	size_t n_same; /* number of rows with |is_same| */
	size_t n_compared; /* names that are in both traces */
	size_t n_steps_compared; /* names of steps among these */
	size_t n_tests;
	uint64_t lost[2]; /* lost events of each trace; 0 if they are at most DIFF_LOST_SHARE */
	uint64_t lost_asyncs[2]; /* further lost async spans, because too many were open */
	struct pace pace;
	struct diff_functions functions;
};

/*
 * Compares |a| and |b|, which are borrowed. Their steps must be gathered. |per| is that of
 * pace_make(). 0, or a negative errno with |d|; call diff_deinit() in any case.
 */
int diff_make(
	struct digest *a, struct digest *b, const char *per, struct diff *out, struct diag *d);
void diff_deinit(struct diff *diff);

/* Returns a name such as "p99". */
const char *diff_get_metric_name(enum diff_metric metric);
/* Returns DIFF_METRICS if no metric has that name. */
enum diff_metric diff_find_metric(const char *name, size_t n);
/*
 * Lists the metrics whose change is sure; returns their number. They are sorted by roughly the time
 * per unit of work that the change costs or saves, largest first.
 */
size_t diff_sort_metrics(
	const struct diff *diff, const struct diff_row *row, enum diff_metric out[DIFF_METRICS]);

/*
 * True if the metric grows with the number of events, so that it means nothing if some were lost.
 */
bool diff_metric_is_of_events(enum diff_metric metric);

/* --- limits -------------------------------------------------------------------------------- */

#define DIFF_USUAL DIFF_METRICS /* a limit with this metric applies to p50, p99 and total */

struct diff_limit {
	enum diff_metric metric;
	char *name; /* NULL: all names above DIFF_SHARE */
	double limit; /* 0.1 is 10 % */
};

enum diff_outcome {
	DIFF_PASSED, /* changed for the better, or by no more than the limit */
	DIFF_MAYBE, /* changed by more than the limit, which may be chance */
	DIFF_UNTOLD, /* changed by more than the limit; too few spans for a test */
	DIFF_ABSENT, /* the limit's name is not in the second trace, so it did not get worse */
	DIFF_UNCOMPARED, /* events were lost */
	DIFF_MISSING, /* the first trace lacks the limit's name; the metric needs it */
	/* Changed for the worse by more than the limit, beyond chance; or the name is new */
	DIFF_FAILED,
};

/* The outcome of one limit for one metric of one name. */
struct diff_judgement {
	const struct diff_limit *limit;
	enum diff_metric metric; /* DIFF_METRICS if neither trace has the name */
	struct diff_row *row; /* NULL if neither trace has the name */
	double p; /* corrected for all judgements; negative: too few spans */
	enum diff_outcome outcome;
};

struct diff_judgements {
	struct diff_judgement *v; /* in the order of the limits, then of the rows */
	size_t n;
	size_t n_allocated;
};

/*
 * Returns the lost events of both traces that made a judgement DIFF_UNCOMPARED: the row's, or the
 * trace's.
 */
const uint64_t *diff_get_lost(const struct diff *diff, const struct diff_judgement *j);
/* Applies the limits, and marks rows that failed. 0 or -ENOMEM; free |out->v| in any case. */
int diff_judge(struct diff *diff, const struct diff_limit *limits, size_t n_limits,
	struct diff_judgements *out);

#endif
