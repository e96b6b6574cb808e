/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the differences of two traces as JSON. */
#include <math.h>

#include "trace/json.h"
#include "trace/report/diff.h"
#include "trace/report/diff_report.h"
#include "trace/report/output.h"
#include "trace/report/report_json.h"

static const char *const kinds[] = {
	[LIST_SPANS] = "span",
	[LIST_KERNELS] = "kernel",
	[LIST_ASYNCS] = "async",
	[LIST_STEPS] = "step",
};

static const char *const verdicts[] = {
	[DIFF_APPEARED] = "appeared",
	[DIFF_VANISHED] = "vanished",
	[DIFF_TOO_FEW] = "too few",
	[DIFF_LOST] = "not compared",
	[DIFF_NOT_SURE] = "chance",
	[DIFF_SURE] = "sure",
};

static const char *const units[] = {
	[PACE_STEP] = "step",
	[PACE_REQUEST] = "request",
	[PACE_SECOND] = "second",
	[PACE_TRACE] = "trace",
};

static const char *const outcomes[] = {
	[DIFF_PASSED] = "passed",
	[DIFF_MAYBE] = "chance",
	[DIFF_UNTOLD] = "too few",
	[DIFF_ABSENT] = "absent",
	[DIFF_UNCOMPARED] = "not compared",
	[DIFF_MISSING] = "missing",
	[DIFF_FAILED] = "failed",
};

static void put_side(struct json *j, const char *key, const struct row *row)
{
	if (!row) {
		json_nothing(j, key);
		return;
	}
	json_begin_object(j, key);
	json_uint(j, "count", row->count);
	json_int(j, "total_ns", row->total_ns);
	report_json_put_times(j, row);
	report_json_put_cuts(j, row);
	json_end_object(j);
}

static void put_p(struct json *j, const char *key, double p)
{
	json_double(j, key, p < 0 ? NAN : p);
}

static void put_metrics(struct json *j, const struct diff_row *row)
{
	json_begin_object(j, "metrics");
	for (int i = 0; row->a && row->b && i < DIFF_METRICS; i++) {
		const struct diff_measure *m = &row->measures[i];

		json_begin_object(j, diff_get_metric_name((enum diff_metric)i));
		json_double(j, "a", m->a);
		json_double(j, "b", m->b);
		json_double(j, "change", m->change);
		put_p(j, "p", m->p_corrected);
		json_text(j, "verdict", verdicts[m->verdict]);
		json_bool(j, "failed", row->failed & 1U << i);
		json_end_object(j);
	}
	json_end_object(j);
}

static void put_row(struct json *j, const struct diff_row *row)
{
	json_begin_object(j, NULL);
	json_text(j, "kind", kinds[row->list]);
	json_bool(j, "request", row->is_request);
	json_text(j, "name", row->name);
	put_side(j, "a", row->a);
	put_side(j, "b", row->b);
	json_double(j, "p50_change", row->a && row->b ? row->measures[DIFF_P50].change : NAN);
	json_double(j, "busy_share", row->share);
	put_p(j, "p", row->p);
	json_text(j, "verdict", verdicts[row->verdict]);
	json_uint(j, "lost_a", row->lost[0]);
	json_uint(j, "lost_b", row->lost[1]);
	put_metrics(j, row);
	json_bool(j, "failed", row->failed);
	json_end_object(j);
}

/* Writes the rows of steps, or all other rows. */
static void put_rows(struct json *j, const char *key, const struct diff *diff, bool is_step,
	const struct diff_options *o)
{
	size_t n = 0;

	json_begin_list(j, key);
	for (size_t i = 0; i < diff->n && (!o->n_top || n < o->n_top); i++) {
		if ((diff->v[i].list == LIST_STEPS) != is_step)
			continue;
		put_row(j, &diff->v[i]);
		n++;
	}
	json_end_list(j);
}

static void put_shares(
	struct json *j, const char *key, const struct diff_measure *m, const uint64_t samples[2])
{
	json_begin_object(j, key);
	json_uint(j, "samples_a", samples[0]);
	json_uint(j, "samples_b", samples[1]);
	json_double(j, "a", m->a);
	json_double(j, "b", m->b);
	json_double(j, "change", m->change);
	put_p(j, "p", m->p_corrected);
	json_text(j, "verdict", verdicts[m->verdict]);
	json_end_object(j);
}

/* Writes "cpu_samples", an object. */
static void put_functions(
	struct json *j, const struct diff_functions *f, const struct diff_options *o)
{
	json_begin_object(j, "cpu_samples");
	json_uint(j, "a", f->n_samples[0]);
	json_uint(j, "b", f->n_samples[1]);
	json_begin_list(j, "functions");
	for (size_t i = 0; i < f->n && (!o->n_top || i < o->n_top); i++) {
		json_begin_object(j, NULL);
		json_text(j, "name", f->v[i].name);
		put_shares(j, "self", &f->v[i].self, f->v[i].n_self);
		put_shares(j, "total", &f->v[i].total, f->v[i].n_total);
		json_end_object(j);
	}
	json_end_list(j);
	json_uint(j, "same", f->n_same);
	json_uint(j, "tests", f->n_tests);
	json_end_object(j);
}

static void put_unit(struct json *j, const struct pace *pace)
{
	json_begin_object(j, "per");
	json_text(j, "unit", units[pace->unit]);
	json_text(j, "name", pace->name);
	json_double(j, "a", pace->sides[0].units);
	json_double(j, "b", pace->sides[1].units);
	json_end_object(j);
}

static void put_judgement(
	struct json *j, const struct diff *diff, const struct diff_judgement *judgement)
{
	const struct diff_row *row = judgement->row;
	const struct diff_measure *m = row ? &row->measures[judgement->metric] : NULL;
	const uint64_t *lost = diff_get_lost(diff, judgement);

	json_begin_object(j, NULL);
	json_text(j, "metric",
		judgement->metric == DIFF_METRICS ? NULL : diff_get_metric_name(judgement->metric));
	json_text(j, "kind", row ? kinds[row->list] : NULL);
	json_text(j, "name", row ? row->name : judgement->limit->name);
	json_double(j, "a", m ? m->a : NAN);
	json_double(j, "b", m ? m->b : NAN);
	json_double(j, "change", m ? m->change : NAN);
	json_double(j, "limit", judgement->limit->limit);
	put_p(j, "p", judgement->p);
	json_uint(j, "lost_a", lost[0]);
	json_uint(j, "lost_b", lost[1]);
	json_text(j, "outcome", outcomes[judgement->outcome]);
	json_end_object(j);
}

static void put_judgements(
	struct json *j, const struct diff *diff, const struct diff_judgements *judgements)
{
	json_begin_list(j, "verdicts");
	for (size_t i = 0; judgements && i < judgements->n; i++)
		put_judgement(j, diff, &judgements->v[i]);
	json_end_list(j);
}

static void put_trace(struct json *j, const char *key, const char *path, const struct digest *g)
{
	json_begin_object(j, key);
	json_text(j, "path", path);
	json_int(j, "begin_ns", g->begin_ns);
	json_int(j, "end_ns", g->end_ns);
	report_json_put_complete(j, g);
	json_begin_object(j, "totals");
	report_write_json_totals(j, &g->totals);
	json_end_object(j);
	json_end_object(j);
}

int diff_write_json(const struct diff *diff, const struct digest *a, const struct digest *b,
	const struct diff_options *options, FILE *out)
{
	struct json j;

	json_begin(&j, out);
	put_trace(&j, "a", options->path_a, a);
	put_trace(&j, "b", options->path_b, b);
	put_unit(&j, &diff->pace);
	put_rows(&j, "steps", diff, true, options);
	put_rows(&j, "names", diff, false, options);
	json_uint(&j, "same", diff->n_same);
	json_uint(&j, "tests", diff->n_tests);
	put_judgements(&j, diff, options->judgements);
	put_functions(&j, &diff->functions, options);
	json_end(&j);
	return output_finish(out);
}
