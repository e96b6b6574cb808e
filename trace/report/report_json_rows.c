/* SPDX-License-Identifier: Apache-2.0 */
/* What spans of one name amount to, and when something was busy, as JSON; see report_json_parts.h. */
#include "trace/report/report_json_parts.h"

#include "trace/json.h"
#include "trace/names.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/report.h"
#include "trace/report/report_json.h"

const char *report_json_get_name(const struct report_json *w, uint32_t name)
{
	return names_get(&w->digest->view->names, name);
}

size_t report_json_count_shown(const struct report_json *w, size_t n)
{
	return w->options->n_top && n > w->options->n_top ? w->options->n_top : n;
}

/* --- rows --------------------------------------------------------------------------------- */

void report_json_put_times(struct json *j, const struct row *row)
{
	json_int(j, "min_ns", row->min_ns);
	json_int(j, "mean_ns", row_get(row, ROW_MEAN));
	json_int(j, "p50_ns", row->p50_ns);
	json_int(j, "p99_ns", row->p99_ns);
	json_int(j, "max_ns", row->max_ns);
}

void report_json_put_counts(struct report_json *w, const struct row *row)
{
	json_text(&w->j, "name", report_json_get_name(w, row->name));
	json_uint(&w->j, "count", row->count);
	json_uint(&w->j, "unfinished", row->n_unfinished);
}

void report_json_put_spans(struct report_json *w, const char *key, const struct rows *rows)
{
	json_begin_list(&w->j, key);
	for (size_t i = 0; i < report_json_count_shown(w, rows->n); i++) {
		json_begin_object(&w->j, NULL);
		report_json_put_counts(w, &rows->v[i]);
		json_int(&w->j, "total_ns", rows->v[i].total_ns);
		json_int(&w->j, "self_ns", rows->v[i].self_ns);
		report_json_put_times(&w->j, &rows->v[i]);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

void report_json_put_asyncs(struct report_json *w, const struct rows *rows)
{
	json_begin_list(&w->j, "async_spans");
	for (size_t i = 0; i < report_json_count_shown(w, rows->n); i++) {
		json_begin_object(&w->j, NULL);
		report_json_put_counts(w, &rows->v[i]);
		json_int(&w->j, "total_ns", rows->v[i].total_ns);
		report_json_put_times(&w->j, &rows->v[i]);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

/* --- busy --------------------------------------------------------------------------------- */

static void put_gap_name(struct report_json *w, const char *key, uint32_t name)
{
	json_text(&w->j, key, name == BUSY_NO_NAME ? NULL : report_json_get_name(w, name));
}

void report_json_put_busy(struct report_json *w, const struct busy *busy)
{
	json_int(&w->j, "busy_ns", busy->busy_ns);
	json_begin_list(&w->j, "idle");
	for (size_t i = 0; i < busy->n_gaps; i++) {
		json_begin_object(&w->j, NULL);
		json_int(&w->j, "start_ns", busy->gaps[i].start_ns);
		json_int(&w->j, "duration_ns", gap_get_length(&busy->gaps[i]));
		put_gap_name(w, "after", busy->gaps[i].after);
		put_gap_name(w, "before", busy->gaps[i].before);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}
