/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the report as one JSON object. Keys are stable; times are integers in nanoseconds; an
 * unknown value is null or an empty list, never left out.
 */
#include "trace/report/report_json.h"

#include "base/cleanup.h"
#include "trace/json.h"
#include "trace/read/archive.h"
#include "trace/read/view.h"
#include "trace/report/death.h"
#include "trace/report/digest.h"
#include "trace/report/facts.h"
#include "trace/report/functions.h"
#include "trace/report/launches.h"
#include "trace/report/output.h"
#include "trace/report/report.h"
#include "trace/report/slow.h"
#include "trace/report/states.h"
#include "trace/saturate.h"

const char *report_json_get_name(const struct report_json *w, uint32_t name)
{
	return names_get(&w->digest->view->names, name);
}

size_t report_json_count_shown(const struct report_json *w, size_t n)
{
	return w->options->n_top && n > w->options->n_top ? w->options->n_top : n;
}

/* --- rows ---------------------------------------------------------------------------------- */

/* A duration is null if all spans were cut, since their durations are unknown. */
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

/* Writes "launches". */
static void report_json_put_launches(struct report_json *w, const struct launcher_list *l)
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

static const char *get_function(const struct report_json *w, const struct function_row *row)
{
	return names_get(&w->digest->view->stacks.texts, row->function);
}

/* Writes "functions" of CPU samples; without totals if |has_totals| is false. */
static void put_functions(struct report_json *w, const struct function_list *ran, bool has_totals)
{
	json_begin_list(&w->j, "functions");
	for (size_t i = 0; i < report_json_count_shown(w, ran->n); i++) {
		json_begin_object(&w->j, NULL);
		json_text(&w->j, "name", get_function(w, &ran->v[i]));
		json_uint(&w->j, "self_samples", ran->v[i].n_self);
		if (has_totals)
			json_uint(&w->j, "total_samples", ran->v[i].n_total);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

/* Writes "waiting", an object. */
static void put_waiting(struct report_json *w, const struct function_list *waited, bool has_totals)
{
	json_begin_object(&w->j, "waiting");
	json_uint(&w->j, "waits", waited->n_samples);
	json_int(&w->j, "total_ns", waited->ns);
	json_begin_list(&w->j, "functions");
	for (size_t i = 0; i < report_json_count_shown(w, waited->n); i++) {
		json_begin_object(&w->j, NULL);
		json_text(&w->j, "name", get_function(w, &waited->v[i]));
		json_uint(&w->j, "waits", waited->v[i].n_self);
		json_int(&w->j, "self_ns", waited->v[i].self_ns);
		if (has_totals)
			json_int(&w->j, "total_ns", waited->v[i].total_ns);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
	json_end_object(&w->j);
}

static void put_functions_of_span(struct report_json *w, const struct span_functions *span)
{
	json_begin_object(&w->j, NULL);
	json_text(&w->j, "name", report_json_get_name(w, span->name));
	json_int(&w->j, "total_ns", span->wall_ns);
	json_uint(&w->j, "samples", span->ran.n_samples);
	put_functions(w, &span->ran, false);
	put_waiting(w, &span->waited, false);
	json_end_object(&w->j);
}

/* Writes "cpu_samples", an object. */
static void report_json_put_samples(struct report_json *w, const struct functions *f)
{
	json_begin_object(&w->j, "cpu_samples");
	json_uint(&w->j, "samples", f->ran.n_samples);
	if (f->period_ns)
		json_int(&w->j, "period_ns", f->period_ns);
	else
		json_nothing(&w->j, "period_ns");
	put_functions(w, &f->ran, true);
	json_begin_list(&w->j, "spans");
	for (size_t i = 0; i < report_json_count_shown(w, f->n_spans); i++)
		put_functions_of_span(w, &f->spans[i]);
	json_end_list(&w->j);
	json_end_object(&w->j);
}

/* --- states of threads --------------------------------------------------------------------- */

static void put_blocked(
	struct report_json *w, const struct state_list *l, const struct state_times *t)
{
	json_begin_list(&w->j, "blocked_in");
	for (size_t i = 0; i < report_json_count_shown(w, t->n); i++) {
		const char *reason = names_get(&l->reasons, t->v[i].reason);

		json_begin_object(&w->j, NULL);
		json_text(&w->j, "name", reason[0] ? reason : NULL);
		json_int(&w->j, "ns", t->v[i].ns);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

/* Writes "thread_states", a list. */
static void report_json_put_states(struct report_json *w, const struct state_list *l)
{
	const struct view *view = w->digest->view;

	json_begin_list(&w->j, "thread_states");
	for (size_t i = 0; i < l->n; i++) {
		const struct state_times *t = &l->v[i];

		json_begin_object(&w->j, NULL);
		json_text(&w->j, "process", view->origins[t->track->origin].name);
		json_int(&w->j, "pid", view->origins[t->track->origin].pid);
		json_int(&w->j, "id", t->track->line->id);
		json_text(&w->j, "name", t->track->line->name);
		json_int(&w->j, "running_ns", t->running_ns);
		json_int(&w->j, "preempted_ns", t->preempted_ns);
		json_int(&w->j, "blocked_ns", t->blocked_ns);
		put_blocked(w, l, t);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

/* --- busy ---------------------------------------------------------------------------------- */

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

/* --- processes ----------------------------------------------------------------------------- */

static void put_processes(struct report_json *w)
{
	const struct view *view = w->digest->view;

	json_begin_list(&w->j, "processes");
	for (size_t i = 0; i < view->n_origins; i++) {
		const struct view_process *p = &view->origins[i];

		json_begin_object(&w->j, NULL);
		json_text(&w->j, "host", view->hosts[p->host].name);
		json_text(&w->j, "name", p->name);
		if (p->is_real)
			json_int(&w->j, "pid", p->pid);
		else
			json_nothing(&w->j, "pid");
		if (p->is_device)
			json_int(&w->j, "device", p->device);
		else
			json_nothing(&w->j, "device");
		if (p->descendant_of)
			json_int(&w->j, "descendant_of", p->descendant_of);
		else
			json_nothing(&w->j, "descendant_of");
		json_uint(&w->j, "n_spans", w->digest->processes[i].n_spans);
		report_json_put_busy(w, &w->digest->processes[i].busy);
		json_end_object(&w->j);
	}
	json_end_list(&w->j);
}

/* --- the report ---------------------------------------------------------------------------- */

static void put_session(struct report_json *w)
{
	uint64_t start_unix_ns;
	uint64_t duration_ns;

	if (digest_get_session(w->digest->view, &start_unix_ns, &duration_ns)) {
		json_uint(&w->j, "start_unix_ns", start_unix_ns);
		json_uint(&w->j, "duration_ns", duration_ns);
	} else {
		json_nothing(&w->j, "start_unix_ns");
		json_nothing(&w->j, "duration_ns");
	}
}

static void put_names(struct report_json *w, const char *key, const struct names *names)
{
	json_texts(&w->j, key, names->texts, names->n_texts);
}

static int put_head(struct report_json *w)
{
	struct facts facts;
	int r = facts_read(w->digest->view, &facts);

	json_text(&w->j, "path", w->options->title);
	put_session(w);
	put_names(w, "hostnames", &facts.hostnames);
	json_text(&w->j, "reason", facts.reason);
	json_begin_object(&w->j, "totals");
	report_write_json_totals(&w->j, &w->digest->totals);
	json_end_object(&w->j);
	put_names(w, "errors", &facts.errors);
	put_names(w, "warnings", &facts.warnings);
	facts_deinit(&facts);
	return r;
}

static void put_tail(struct report_json *w)
{
	const struct digest *g = w->digest;

	json_int(&w->j, "begin_ns", g->begin_ns);
	json_int(&w->j, "end_ns", g->end_ns);
	put_processes(w);
	report_json_put_spans(w, "names", &g->lists[LIST_SPANS]);
	report_json_put_spans(w, "kernels", &g->lists[LIST_KERNELS]);
	json_uint(&w->j, "derived_spans", g->rest.n_derived);
	put_names(w, "notes", &g->view->notes);
	report_json_put_complete(&w->j, g);
}

int report_write_json(struct digest *g, const struct report_options *options, FILE *out)
{
	struct report_json w = {.digest = g, .options = options};
	_cleanup_(slow_freep) struct slow *slow = NULL;
	_cleanup_(launcher_list_deinit) struct launcher_list launches = {.v = NULL};
	_cleanup_(functions_deinit) struct functions functions = {.n_spans = 0};
	_cleanup_(state_list_deinit) struct state_list states = {.n = 0};
	int r = slow_make(g, options->slow, &slow, NULL);

	if (r == 0)
		r = launcher_list_make(g, &launches, NULL);
	if (r == 0)
		r = functions_make(g, &functions, NULL);
	if (r == 0)
		r = state_list_make(g, &states, NULL);
	if (r)
		return r;
	g->totals.n_cpu_samples = functions.ran.n_samples;
	w.slow = slow;
	digest_sort(g, options->sort);
	json_begin(&w.j, out);
	r = put_head(&w);
	if (r == 0)
		r = report_json_put_planes(&w);
	if (r == 0)
		r = death_write_json(g, &w.j);
	put_tail(&w);
	report_json_put_slow(&w);
	report_json_put_launches(&w, &launches);
	report_json_put_samples(&w, &functions);
	put_waiting(&w, &functions.waited, true);
	report_json_put_states(&w, &states);
	json_end(&w.j);
	if (r)
		return r;
	return output_finish(out);
}
