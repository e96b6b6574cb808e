/* SPDX-License-Identifier: Apache-2.0 */
/* Tests differences between two traces, and differences by chance. */
#include "trace/report/diff.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "tests/unit/digest_fixture.h"
#include "tests/unit/unit.h"
#include "trace/report/diff_report.h"

static struct view *view_a;
static struct digest *digest_a;
static struct diff diff;
static const char *per; /* totals are divided by this; NULL: by what the diff finds itself */

static void set_up(void)
{
	per = NULL;
	digest_fixture_open();
	view_a = NULL;
	digest_a = NULL;
	diff = (struct diff){.v = NULL};
}

static void tear_down(void)
{
	diff_deinit(&diff);
	digest_free(digest_a);
	view_free(view_a);
	digest_fixture_close();
}

/* Makes the events that were added until now the first trace; a new space is begun. */
static void end_first(void)
{
	digest_space();
	digest_a = digest;
	digest = NULL;
	view_a = view;
	view_fixture_forget();
	space_fixture_close();
	space_fixture_open();
}

static void compare(void)
{
	digest_space();
	ck_assert_int_eq(diff_make(digest_a, digest, per, &diff, NULL), 0);
}

/* Adds |n| spans of |ns| to |ns| + 6 ns: seven lengths in turn. */
static void add_spans(const char *name, int n, int64_t ns)
{
	for (int i = 0; i < n; i++)
		add(name, i * 100000, ns + i % 7, 0);
}

static const struct diff_row *find(const char *name)
{
	for (size_t i = 0; i < diff.n; i++)
		if (strcmp(diff.v[i].name, name) == 0)
			return &diff.v[i];
	return NULL;
}

static const struct diff_measure *get(const char *name, enum diff_metric metric)
{
	ck_assert_ptr_nonnull(find(name));
	return &find(name)->measures[metric];
}

/* Returns the outcome of that limit, which must be the same for all its metrics. */
static enum diff_outcome judge(enum diff_metric metric, const char *name, double percent)
{
	struct diff_limit limit = {metric, (char *)name, percent / 100};
	struct diff_judgements judgements;
	enum diff_outcome outcome;

	ck_assert_int_eq(diff_judge(&diff, &limit, 1, &judgements), 0);
	ck_assert_uint_gt(judgements.n, 0);
	outcome = judgements.v[0].outcome;
	for (size_t i = 0; i < judgements.n; i++)
		ck_assert_int_eq(judgements.v[i].outcome, outcome);
	free(judgements.v);
	return outcome;
}

/*
 * Returns the number of judgements with that outcome, over the usual metrics of all names with a
 * large share of time.
 */
static size_t count_outcomes(double percent, enum diff_outcome outcome)
{
	struct diff_limit limit = {DIFF_USUAL, NULL, percent / 100};
	struct diff_judgements judgements;
	size_t n = 0;

	ck_assert_int_eq(diff_judge(&diff, &limit, 1, &judgements), 0);
	for (size_t i = 0; i < judgements.n; i++)
		n += judgements.v[i].outcome == outcome;
	free(judgements.v);
	return n;
}

static void add_sample(int64_t longer_ns)
{
	add_spans("same", 20, 1000);
	line = plane_add_line(plane, 43, "b", 0);
	add_spans("slower", 20, 1000 + longer_ns);
	line = plane_add_line(plane, 44, "c", 0);
	add_spans("few", 3, 1000 + longer_ns);
}

/* Adds requests of 800 ms, 50 a second, of one program that is recorded for |ms|. */
static void add_cut_requests(int64_t ms)
{
	line = plane_add_line(plane, 98, "rq", 0);
	for (int64_t at = -780; at < ms; at += 20) {
		int64_t start = at < 0 ? 0 : at;
		int64_t end = at + 800 > ms ? ms : at + 800;
		uint32_t stats = int_stats("id", at + 1000, "_a");

		if (at < 0)
			stats = int_stats("started_before", 1, "_a");
		else if (at + 800 > ms)
			stats = int_stats("unfinished", 1, "_a");
		add("rq", start * 1000000, (end - start) * 1000000, stats);
	}
}

/* If cut spans counted like others, the median would rise by 64 %. */
START_TEST(a_longer_recording_is_no_change)
{
	add_cut_requests(1200);
	end_first();
	add_cut_requests(4000);
	compare();
	for (int metric = 0; metric < DIFF_METRICS; metric++) {
		ck_assert_double_eq_tol(get("rq", metric)->change, 0, 0.01);
		ck_assert_int_ne(get("rq", metric)->verdict, DIFF_SURE);
	}
	ck_assert_double_eq_tol(get("rq", DIFF_RATE)->a, 50, 0.1);
	ck_assert_double_eq(get("rq", DIFF_P50)->a, 8e8);
}
END_TEST

/* Their durations are unknown. */
START_TEST(durations_of_cut_spans_do_not_compare)
{
	for (int i = 0; i < 10; i++)
		add("cut", i * 1000, 500, int_stats("unfinished", 1, "x"));
	end_first();
	for (int i = 0; i < 10; i++)
		add("cut", i * 1000, 500, 0);
	compare();
	ck_assert(isnan(get("cut", DIFF_P99)->change));
	ck_assert_int_eq(get("cut", DIFF_P99)->verdict, DIFF_TOO_FEW);
	ck_assert_double_eq(get("cut", DIFF_TOTAL)->change, 0);
	ck_assert_int_eq(judge(DIFF_P99, "cut", 10), DIFF_UNTOLD);
}
END_TEST

START_TEST(nothing_differs_from_itself)
{
	add_sample(0);
	end_first();
	add_sample(0);
	compare();
	ck_assert_uint_eq(diff.n, 0);
	ck_assert_uint_eq(diff.n_same, 3);
	ck_assert_uint_eq(count_outcomes(0, DIFF_PASSED), 9);
	for (int i = 0; i < DIFF_METRICS; i++)
		ck_assert_int_eq(judge((enum diff_metric)i, "same", 0), DIFF_PASSED);
}
END_TEST

START_TEST(slower_name_is_found)
{
	add_sample(0);
	end_first();
	add_sample(200);
	compare();
	ck_assert_uint_eq(diff.n, 2);
	ck_assert_ptr_null(find("same"));
	ck_assert_int_eq(find("slower")->verdict, DIFF_SURE);
	for (int i = 0; i < DIFF_METRICS; i++) {
		bool is_longer = i < DIFF_COUNT;

		/* There are too few spans for one in a thousand. */
		if (i == DIFF_P999) {
			ck_assert_int_eq(get("slower", DIFF_P999)->verdict, DIFF_TOO_FEW);
			continue;
		}
		ck_assert_int_eq(get("slower", (enum diff_metric)i)->verdict,
			is_longer ? DIFF_SURE : DIFF_NOT_SURE);
		ck_assert_int_eq(judge((enum diff_metric)i, "slower", 19),
			is_longer ? DIFF_FAILED : DIFF_PASSED);
		ck_assert_int_eq(judge((enum diff_metric)i, "slower", 21), DIFF_PASSED);
	}
	ck_assert_double_eq_tol(get("slower", DIFF_P50)->change, 0.2, 0.001);
	ck_assert_int_eq(find("few")->verdict, DIFF_TOO_FEW);
	ck_assert_int_eq(judge(DIFF_P50, "few", 10), DIFF_UNTOLD);
	ck_assert_int_eq(judge(DIFF_P50, "few", 21), DIFF_PASSED);
}
END_TEST

/*
 * Adds 2,000 requests of 0.2 ms, one after the other. With |has_slow| each 50th takes 20
 * ms, so the trace is longer.
 */
static void add_requests(bool has_slow)
{
	int64_t at_ns = 0;

	for (int i = 0; i < 2000; i++) {
		int64_t length_ns = has_slow && i % 50 == 7 ? 20000000 : 200000 + i % 11 * 1000;

		add("request", at_ns, length_ns, 0);
		add("parse", at_ns, 10000 + i % 7 * 100, 0);
		at_ns += length_ns + 1000;
	}
}

static void compare_requests(bool is_reverse)
{
	add_requests(is_reverse);
	end_first();
	add_requests(!is_reverse);
	compare();
}

START_TEST(a_new_slow_tail_fails_and_a_vanished_one_passes)
{
	bool is_better = _i;
	enum diff_outcome outcome = is_better ? DIFF_PASSED : DIFF_FAILED;
	double total_change = is_better ? -0.66 : 1.93;
	double p99_change = is_better ? -0.99 : 94;

	compare_requests(is_better);
	ck_assert_int_eq(diff.pace.unit, PACE_REQUEST);
	ck_assert_str_eq(diff.pace.name, "request");
	ck_assert_double_eq_tol(get("request", DIFF_TOTAL)->change, total_change, 0.01);
	ck_assert_double_eq_tol(get("request", DIFF_P99)->change, p99_change, 1);
	ck_assert_double_eq_tol(get("request", DIFF_P50)->change, 0, 0.01);
	ck_assert_int_eq(judge(DIFF_TOTAL, "request", 10), outcome);
	ck_assert_int_eq(judge(DIFF_MEAN, "request", 10), outcome);
	ck_assert_int_eq(judge(DIFF_P99, "request", 10), outcome);
	ck_assert_int_eq(judge(DIFF_MAX, "request", 10), outcome);
	ck_assert_int_eq(judge(DIFF_RATE, "request", 10), outcome);
	ck_assert_int_eq(judge(DIFF_P50, "request", 10), DIFF_PASSED);
	ck_assert_int_eq(judge(DIFF_COUNT, "request", 10), DIFF_PASSED);
	ck_assert_uint_eq(count_outcomes(10, DIFF_FAILED), is_better ? 0 : 2);
	ck_assert_str_eq(diff.v[0].name, "request");
	ck_assert(diff.v[0].is_request);
	/* The contents of each request are the same, but there are fewer a second. */
	ck_assert_int_eq(judge(DIFF_TOTAL, "parse", 10), DIFF_PASSED);
	ck_assert_int_eq(judge(DIFF_RATE, "parse", 10), outcome);
}
END_TEST

/*
 * The 99th percentile is 24.8 ms, or 4.2 ms without the tail. Without the tail the
 * median is a little longer.
 */
static void add_service(bool has_tail)
{
	for (int i = 0; i < 3000; i++) {
		int64_t short_ns = has_tail ? 1000000 : 1040000;
		int64_t tail_ns = has_tail ? 24800000 : 4200000;

		add("serve", i * INT64_C(30000000),
			i % 40 == 3 ? tail_ns + i : short_ns + i % 13 * 1000, 0);
	}
}

START_TEST(a_better_tail_passes_although_the_median_rises)
{
	bool is_better = _i;

	add_service(is_better);
	end_first();
	add_service(!is_better);
	compare();
	ck_assert_uint_eq(count_outcomes(10, DIFF_FAILED), is_better ? 0 : 2);
	ck_assert_int_eq(judge(DIFF_P99, "serve", 10), is_better ? DIFF_PASSED : DIFF_FAILED);
	ck_assert_int_eq(judge(DIFF_P50, "serve", 3), is_better ? DIFF_FAILED : DIFF_PASSED);
}
END_TEST

/* Both have the same 40 spans. The second has one more, which took a thousand times as long. */
START_TEST(an_outlier_is_no_difference)
{
	add_spans("a", 40, 1000);
	end_first();
	add_spans("a", 40, 1000);
	add("a", 50 * 100000, 1000000, 0);
	compare();
	ck_assert_int_eq(find("a")->verdict, DIFF_NOT_SURE);
	ck_assert_int_eq(judge(DIFF_MAX, "a", 10), DIFF_MAYBE);
	ck_assert_int_eq(judge(DIFF_MEAN, "a", 10), DIFF_MAYBE);
	ck_assert_uint_eq(count_outcomes(0, DIFF_FAILED), 0);
}
END_TEST

/* Two fifths of the spans become very short, and the median of all rises. */
START_TEST(a_median_that_rises_while_durations_fall_is_not_too_much)
{
	for (int i = 0; i < 100; i++)
		add("w", i * 10000, i * 37 % 100 < 51 ? 1000 : 2000, 0);
	end_first();
	for (int i = 0; i < 100; i++)
		add("w", i * 10000, i * 37 % 100 < 60 ? 1200 : 10, 0);
	compare();
	ck_assert_int_eq(get("w", DIFF_MEAN)->direction, -1);
	ck_assert_int_eq(get("w", DIFF_MEAN)->verdict, DIFF_SURE);
	ck_assert_double_eq_tol(get("w", DIFF_P50)->change, 0.2, 0.001);
	ck_assert_int_eq(judge(DIFF_P50, "w", 10), DIFF_MAYBE);
}
END_TEST

/* Three times as long a recording of the same service. */
START_TEST(recordings_of_different_length_compare)
{
	static const char *const units[] = {NULL, "second", "trace", "work"};
	bool is_whole = _i == 2;

	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < (k ? 3000 : 1000); i++) {
			add("work", i * 100000, 20000 + i * 7919 % 1000, 0);
			for (int part = 0; part < 3; part++)
				add("part", i * 100000 + part * 5000, 3000 + i * 7907 % 100, 0);
		}
		if (k == 0)
			end_first();
	}
	per = units[_i];
	compare();
	for (int i = 0; i < 2; i++) {
		const char *name = i ? "part" : "work";

		ck_assert_int_eq(judge(DIFF_TOTAL, name, 5), is_whole ? DIFF_FAILED : DIFF_PASSED);
		ck_assert_int_eq(judge(DIFF_COUNT, name, 5), is_whole ? DIFF_FAILED : DIFF_PASSED);
		ck_assert_int_eq(judge(DIFF_RATE, name, 5), DIFF_PASSED);
	}
}
END_TEST

START_TEST(a_unit_that_is_not_there_is_refused)
{
	struct diag d = DIAG_INIT;

	add_spans("a", 20, 1000);
	end_first();
	add_spans("b", 20, 1000);
	digest_space();
	ck_assert_int_eq(diff_make(digest_a, digest, "a", &diff, &d), -EINVAL);
	ck_assert_ptr_nonnull(strstr(d.text, "of both traces is called \"a\""));
}
END_TEST

/* There are two calls a step, and then three. Each call takes about the same time as before. */
START_TEST(more_calls_a_step_are_found)
{
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < 30; i++) {
			add("train", i * 100000, 90000, int_stats("step_num", i, "_r"));
			for (int call = 0; call < 2 + k; call++)
				add("call", i * 100000 + call * 20000, 9000 + i % 5, 0);
		}
		if (k == 0)
			end_first();
	}
	compare();
	ck_assert_int_eq(diff.pace.unit, PACE_STEP);
	ck_assert_double_eq_tol(get("call", DIFF_COUNT)->change, 0.5, 1e-9);
	ck_assert_int_eq(judge(DIFF_COUNT, "call", 10), DIFF_FAILED);
	ck_assert_int_eq(judge(DIFF_TOTAL, "call", 10), DIFF_FAILED);
	ck_assert_int_eq(judge(DIFF_MEAN, "call", 0), DIFF_PASSED);
	ck_assert(!find("call")->is_request);
}
END_TEST

static uint64_t lot;

static double draw(void)
{
	lot ^= lot << 13;
	lot ^= lot >> 7;
	lot ^= lot << 17;
	return (double)(lot >> 11) / (double)(UINT64_C(1) << 53);
}

/*
 * Adds 50 names with about 300 spans each. The logarithms of the durations have a normal
 * distribution; a twentieth of the spans takes ten times as long.
 */
static void add_noise(double factor)
{
	for (int i = 0; i < 50; i++) {
		char name[8];
		double at_ns = 0;

		snprintf(name, sizeof name, "n%d", i);
		line = plane_add_line(plane, 100 + i, name, 0);
		for (;;) {
			double normal = sqrt(-2 * log(1 - draw())) * cos(2 * M_PI * draw());
			double ns = 20000 * exp(normal) * (draw() < 0.05 ? 10 : 1);

			at_ns -= 1e5 * log(1 - draw());
			if (at_ns > 5e7)
				break;
			add(name, (int64_t)at_ns, (int64_t)(ns * (i == 7 ? factor : 1)), 0);
			at_ns += ns;
		}
	}
}

/*
 * Nine programs do not change, and in a tenth program one name of 50 takes twice as long. The
 * random numbers are always the same.
 */
START_TEST(changed_name_among_many_fails)
{
	double factor = _i == 9 ? 2 : 1;

	lot = 88172645463325252u + (uint64_t)_i;
	per = "second";
	add_noise(1);
	end_first();
	add_noise(factor);
	compare();
	ck_assert_uint_eq(count_outcomes(0, DIFF_FAILED) > 0, factor > 1);
	for (size_t i = 0; i < diff.n; i++)
		ck_assert_int_eq(diff.v[i].verdict, factor > 1 && strcmp(diff.v[i].name, "n7") == 0
							    ? DIFF_SURE
							    : DIFF_NOT_SURE);
	if (factor > 1)
		ck_assert_str_eq(diff.v[0].name, "n7");
}
END_TEST

/* These are more spans than are kept one by one. */
START_TEST(histograms_are_compared)
{
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < 3 * SAMPLE_EXACT; i++) {
			int64_t long_ns = k ? 1300000 : 1000000;

			add("h", i * INT64_C(2000000),
				i % 70 == 5 ? long_ns + i * 37 % 1000 : 1000 + i % 100, 0);
		}
		if (k == 0)
			end_first();
	}
	compare();
	ck_assert_ptr_nonnull(find("h")->a->durations.buckets);
	ck_assert_double_eq_tol(get("h", DIFF_P99)->change, 0.3, 0.02);
	ck_assert_int_eq(judge(DIFF_P99, "h", 10), DIFF_FAILED);
	ck_assert_int_eq(judge(DIFF_MAX, "h", 10), DIFF_FAILED);
	ck_assert_int_eq(judge(DIFF_P50, "h", 0), DIFF_PASSED);
	ck_assert_int_eq(judge(DIFF_P90, "h", 0), DIFF_PASSED);
}
END_TEST

/* A rare name that is certainly slower comes before a large one whose change may be chance. */
START_TEST(sure_changes_come_before_uncertain_ones)
{
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < 1000; i++)
			add("rare", i * 100000, k && i % 20 == 3 ? 3000 : 300 + i % 9, 0);
		line = plane_add_line(plane, 43, "b", 0);
		for (int i = 0; i < 20; i++)
			add("noise", i * 5000000, k && i == 3 ? 4000000 : 1000000 + i * 7 % 20, 0);
		if (k == 0)
			end_first();
	}
	per = "second";
	compare();
	ck_assert_uint_eq(diff.n, 2);
	ck_assert_str_eq(diff.v[0].name, "rare");
	ck_assert_int_eq(diff.v[1].verdict, DIFF_NOT_SURE);
	ck_assert_double_gt(fabs(diff.v[1].growth_ns), fabs(diff.v[0].growth_ns));
}
END_TEST

START_TEST(names_appear_and_vanish)
{
	add("old", 0, 10, 0);
	add("kept", 20, 10, 0);
	end_first();
	add("kept", 0, 10, 0);
	add("new", 20, 30, 0);
	compare();
	ck_assert_uint_eq(diff.n, 2);
	ck_assert_int_eq(find("old")->verdict, DIFF_VANISHED);
	ck_assert_ptr_null(find("old")->b);
	ck_assert_int_eq(find("new")->verdict, DIFF_APPEARED);
	ck_assert_double_gt(find("new")->growth_ns, 0);
	ck_assert_double_lt(find("old")->growth_ns, 0);
	/* A new name is worse, and a vanished one is not, except by its rate. */
	ck_assert_int_eq(judge(DIFF_TOTAL, "new", 10), DIFF_FAILED);
	ck_assert_int_eq(judge(DIFF_COUNT, "new", 10), DIFF_FAILED);
	ck_assert_int_eq(judge(DIFF_RATE, "new", 10), DIFF_PASSED);
	ck_assert_int_eq(judge(DIFF_P99, "new", 10), DIFF_MISSING);
	ck_assert_int_eq(judge(DIFF_USUAL, "old", 10), DIFF_ABSENT);
	ck_assert_int_eq(judge(DIFF_RATE, "old", 10), DIFF_FAILED);
	ck_assert_int_eq(judge(DIFF_P99, "never", 10), DIFF_MISSING);
	ck_assert_int_eq(judge(DIFF_COUNT, "never", 10), DIFF_ABSENT);
	ck_assert_uint_eq(count_outcomes(10, DIFF_MISSING), 0);
	ck_assert_uint_eq(count_outcomes(10, DIFF_FAILED), 1);
}
END_TEST

/* A span and a step may have the same name, and the step is in one trace only. */
START_TEST(a_name_of_two_kinds_is_judged_where_it_can_be)
{
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < 20; i++)
			add("both", i * 1000, 100 + 50 * k + i % 3, 0);
		add("both", 20 * 1000, 100, k ? int_stats("step_num", 1, "_r") : 0);
		if (k == 0)
			end_first();
	}
	compare();
	ck_assert_int_eq(find("both")->verdict, DIFF_APPEARED);
	ck_assert_int_eq(judge(DIFF_P50, "both", 10), DIFF_FAILED);
}
END_TEST

START_TEST(steps_come_first_and_once)
{
	for (int i = 0; i < 10; i++) {
		add("train", i * 1000, 100, int_stats("step_num", i, "_r"));
		add("work", i * 1000, 50, 0);
	}
	end_first();
	for (int i = 0; i < 10; i++) {
		add("train", i * 1000, 110, int_stats("step_num", i, "_r"));
		add("work", i * 1000, 90, 0);
	}
	compare();
	ck_assert_uint_eq(diff.n, 2);
	ck_assert_str_eq(diff.v[0].name, "train");
	ck_assert_int_eq(diff.v[0].list, LIST_STEPS);
	ck_assert_str_eq(diff.v[1].name, "work");
}
END_TEST

static void add_train(bool is_step)
{
	for (int i = 0; i < 10; i++)
		add("train", i * 1000, 100 + i + 10 * is_step,
			is_step ? int_stats("step_num", i, "_r") : 0);
}

/* The name is compared as a span, and is also listed as a step that only one trace has. */
START_TEST(name_that_is_a_step_in_one_trace_only_is_not_lost)
{
	add_train(_i == 0);
	end_first();
	add_train(_i == 1);
	compare();
	ck_assert_uint_eq(diff.n, 2);
	ck_assert_int_eq(diff.v[0].list, LIST_STEPS);
	ck_assert_int_eq(diff.v[0].verdict, _i == 0 ? DIFF_VANISHED : DIFF_APPEARED);
	ck_assert_int_eq(diff.v[1].list, LIST_SPANS);
	ck_assert(diff.v[1].a && diff.v[1].b);
}
END_TEST

START_TEST(from_nothing_is_an_infinite_change)
{
	add_spans("a", 1, 0);
	end_first();
	add_spans("a", 1, 5);
	compare();
	ck_assert(isinf(get("a", DIFF_P50)->change));
}
END_TEST

START_TEST(text_names_changes_beyond_the_limit)
{
	static const struct diff_options options = {.path_a = "A.pb", .path_b = "B.pb"};
	char text[4096];
	FILE *out = fmemopen(text, sizeof text, "w");

	add_sample(0);
	end_first();
	add_sample(200);
	add("a name that is much too long for what is left of 80 columns", 0, 5, 0);
	compare();
	ck_assert_uint_eq(count_outcomes(10, DIFF_FAILED), 3);
	ck_assert_int_eq(diff_write_text(&diff, digest_a, digest, &options, out), 0);
	fclose(out);
	ck_assert_ptr_nonnull(
		strstr(text, "\nbeyond chance, most time lost or saved first\n"
			     "              A        B   change  name\n"
			     " total  20.1 us  24.1 us  +19.9 %  slower  too much\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "\n   p99  1.01 us  1.21 us  +19.9 %  slower  too much\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n   max  1.01 us  1.21 us  +19.9 %  slower\n"));
	ck_assert_ptr_nonnull(strstr(text,
		"\n  total A  total B   change       p50       p99     count   name\n"
		"  20.1 us  24.1 us  +19.9 %*  +19.9 %*  +19.9 %*    0.0 %   slower  too much; * mean, p90, "
		"max\n"));
	ck_assert_ptr_nonnull(strstr(text, "  +20.0 %?    0.0 %   few\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nonly in B\n    count    total      p50  name\n"
					   "        1     5 ns     5 ns  a name that is much too"));
	ck_assert_ptr_nonnull(
		strstr(text, "\n* beyond chance (p < 0.01, corrected for 16 tests) · "));
	ck_assert_ptr_nonnull(strstr(text, "\nthe same: 1 name\n"));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_longer_recording_is_no_change),
	UNIT_TEST(durations_of_cut_spans_do_not_compare),
	UNIT_TEST(nothing_differs_from_itself),
	UNIT_TEST(slower_name_is_found),
	UNIT_LOOP(a_new_slow_tail_fails_and_a_vanished_one_passes, 2),
	UNIT_LOOP(a_better_tail_passes_although_the_median_rises, 2),
	UNIT_TEST(an_outlier_is_no_difference),
	UNIT_TEST(a_median_that_rises_while_durations_fall_is_not_too_much),
	UNIT_LOOP(recordings_of_different_length_compare, 4),
	UNIT_TEST(a_unit_that_is_not_there_is_refused),
	UNIT_TEST(more_calls_a_step_are_found),
	UNIT_LOOP(changed_name_among_many_fails, 10),
	UNIT_TEST(histograms_are_compared),
	UNIT_TEST(sure_changes_come_before_uncertain_ones),
	UNIT_TEST(names_appear_and_vanish),
	UNIT_TEST(a_name_of_two_kinds_is_judged_where_it_can_be),
	UNIT_TEST(steps_come_first_and_once),
	UNIT_LOOP(name_that_is_a_step_in_one_trace_only_is_not_lost, 2),
	UNIT_TEST(from_nothing_is_an_infinite_change),
	UNIT_TEST(text_names_changes_beyond_the_limit),
	{NULL},
};

UNIT_MAIN("diff", .set_up = set_up, .tear_down = tear_down, .timeout_s = 60, .tests = tests)
