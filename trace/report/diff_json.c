/* SPDX-License-Identifier: Apache-2.0 */
/* Differences as JSON; see diff_report.h. */
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
	[DIFF_NOT_SURE] = "chance",
	[DIFF_SURE] = "sure",
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
	json_end_object(j);
}

static void put_row(struct json *j, const struct diff_row *row, const struct diff_options *o)
{
	json_begin_object(j, NULL);
	json_text(j, "kind", kinds[row->list]);
	json_text(j, "name", row->name);
	put_side(j, "a", row->a);
	put_side(j, "b", row->b);
	json_double(j, "p50_change", row->a && row->b ? diff_get_change(row) : NAN);
	json_double(j, "p", row->p < 0 ? NAN : row->p);
	json_text(j, "verdict", verdicts[row->verdict]);
	json_bool(j, "failed", o->limit >= 0 && diff_is_above(row, o->limit));
	json_end_object(j);
}

/* Those that |is_step|, or the others. */
static void put_rows(struct json *j, const char *key, const struct diff *diff, bool is_step,
	const struct diff_options *o)
{
	size_t n = 0;

	json_begin_list(j, key);
	for (size_t i = 0; i < diff->n && (!o->n_top || n < o->n_top); i++) {
		if ((diff->v[i].list == LIST_STEPS) != is_step)
			continue;
		put_row(j, &diff->v[i], o);
		n++;
	}
	json_end_list(j);
}

static void put_trace(struct json *j, const char *key, const char *path, const struct digest *g)
{
	json_begin_object(j, key);
	json_text(j, "path", path);
	json_int(j, "begin_ns", g->begin_ns);
	json_int(j, "end_ns", g->end_ns);
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
	put_rows(&j, "steps", diff, true, options);
	put_rows(&j, "names", diff, false, options);
	json_uint(&j, "same", diff->n_same);
	json_end(&j);
	return output_finish(out);
}
