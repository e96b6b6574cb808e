/* SPDX-License-Identifier: Apache-2.0 */
/* What spans of one name amount to, and when something was busy, as JSON; see report_json_parts.h. */
#include "trace/report/report_json_parts.h"

#include "trace/json.h"
#include "trace/model/names.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/launches.h"
#include "trace/report/report.h"
#include "trace/report/report_json.h"
#include "trace/saturate.h"

const char *report_json_get_name(const struct report_json *w, uint32_t name)
{
	return names_get(&w->digest->view->names, name);
}

size_t report_json_count_shown(const struct report_json *w, size_t n)
{
	return w->options->n_top && n > w->options->n_top ? w->options->n_top : n;
}

/* --- rows --------------------------------------------------------------------------------- */

/* The durations are null where all spans were cut: nobody knows how long these took. */
static void put_time(struct json *j, const char *key, const struct row *row, int64_t ns)
{
	if (row->n_whole)
		json_int(j, key, ns);
	else
		json_nothing(j, key);
}

void report_json_put_times(struct json *j, const struct row *row)
{
	put_time(j, "min_ns", row, row->min_ns);
	put_time(j, "mean_ns", row, row_get(row, ROW_MEAN));
	put_time(j, "p50_ns", row, row->p50_ns);
	put_time(j, "p90_ns", row, row->p90_ns);
	put_time(j, "p99_ns", row, row->p99_ns);
	put_time(j, "p999_ns", row, row->p999_ns);
	put_time(j, "max_ns", row, row->max_ns);
}

void report_json_put_cuts(struct json *j, const struct row *row)
{
	json_uint(j, "unfinished", row->n_unfinished);
	json_uint(j, "began_before", row->n_began_before);
	json_uint(j, "whole", row->n_whole);
}

void report_json_put_complete(struct json *j, const struct digest *g)
{
	if (g->complete_ns == INT64_MIN)
		json_nothing(j, "complete_since_ns");
	else
		json_int(j, "complete_since_ns", g->complete_ns);
}

void report_json_put_counts(struct report_json *w, const struct row *row)
{
	json_text(&w->j, "name", report_json_get_name(w, row->name));
	json_uint(&w->j, "count", row->count);
	report_json_put_cuts(&w->j, row);
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

void report_json_put_launches(struct report_json *w, const struct launches *l)
{
	json_begin_list(&w->j, "launches");
	for (size_t i = 0; i < report_json_count_shown(w, l->names.n_texts); i++) {
		json_begin_object(&w->j, NULL);
		json_text(&w->j, "name", names_get(&l->names, l->v[i].name));
		json_uint(&w->j, "kernels", l->v[i].n_kernels);
		json_uint(&w->j, "launches", l->v[i].n_launches);
		json_int(&w->j, "device_ns", l->v[i].device_ns);
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
	json_int(&w->j, "known_ns", sub_saturated(busy->end_ns, busy->begin_ns));
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
