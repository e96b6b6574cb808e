/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as one JSON object; see report.h. Keys are stable; times are integers in nanoseconds;
 * what is unknown is null or an empty list, never left out.
 */
#include <errno.h>

#include "base/cleanup.h"
#include "trace/json.h"
#include "trace/report.h"
#include "trace/report_facts.h"
#include "trace/report_recorder.h"
#include "trace/space.h"
#include "trace/summary.h"

static void put_names(struct json *j, const char *key, const struct names *names)
{
	json_texts(j, key, names->texts, names->n_texts);
}

/* What rows of spans and of async spans end with. */
static void put_times(struct json *j, const struct summary_row *row)
{
	json_int(j, "min_ns", row->min_ns);
	json_int(j, "mean_ns", row->total_ns / (int64_t)row->count);
	json_int(j, "p50_ns", row->p50_ns);
	json_int(j, "p99_ns", row->p99_ns);
	json_int(j, "max_ns", row->max_ns);
}

static void put_row(struct json *j, const struct plane *plane, const struct summary_row *row)
{
	json_begin_object(j, NULL);
	json_text(j, "name", names_get(&plane->event_names, row->name));
	json_uint(j, "count", row->count);
	json_uint(j, "unfinished", row->n_unfinished);
	json_int(j, "total_ns", row->total_ns);
	json_int(j, "self_ns", row->self_ns);
	put_times(j, row);
	json_end_object(j);
}

static void put_kinds(struct json *j, const struct plane *plane, const struct line *line)
{
	struct summary_keys keys;
	uint64_t n[EVENT_KINDS];

	summary_keys_init(&keys, plane);
	line_count_kinds(plane, &keys, line, n);
	json_uint(j, "n_spans", n[EVENT_SPAN]);
	json_uint(j, "n_instants", n[EVENT_INSTANT]);
	json_uint(j, "n_flow_marks", n[EVENT_FLOW_MARK]);
}

static void put_threads(
	struct json *j, const struct summary *summary, const struct report_options *options)
{
	json_begin_list(j, "threads");
	for (size_t i = 0; i < summary->n_lines; i++) {
		const struct summary_line *line = &summary->lines[i];
		size_t n_shown = report_count_shown(line->n_rows, 0, options);

		json_begin_object(j, NULL);
		json_int(j, "id", line->line->id);
		json_text(j, "name", line->line->name);
		put_kinds(j, summary->plane, line->line);
		json_begin_list(j, "spans");
		for (size_t k = 0; k < n_shown; k++)
			put_row(j, summary->plane, &line->rows[k]);
		json_end_list(j);
		json_end_object(j);
	}
	json_end_list(j);
}

static void put_steps(struct json *j, const struct summary *summary)
{
	json_begin_list(j, "steps");
	for (size_t i = 0; i < summary->n_steps; i++) {
		const struct summary_step *step = &summary->steps[i];

		json_begin_object(j, NULL);
		json_text(j, "name", names_get(&summary->plane->event_names, step->name));
		json_uint(j, "count", step->n);
		json_uint(j, "unfinished", step->n_unfinished);
		json_int(j, "mean_ns", step->mean_ns);
		json_int(j, "p50_ns", step->p50_ns);
		json_int(j, "p99_ns", step->p99_ns);
		json_int(j, "min_ns", step->min_ns);
		json_int(j, "max_ns", step->max_ns);
		json_end_object(j);
	}
	json_end_list(j);
}

static void put_asyncs(struct json *j, const struct summary *summary)
{
	json_begin_list(j, "async_spans");
	for (size_t i = 0; i < summary->n_asyncs; i++) {
		const struct summary_row *row = &summary->asyncs[i];

		json_begin_object(j, NULL);
		json_text(j, "name", names_get(&summary->plane->event_names, row->name));
		json_uint(j, "count", row->count);
		json_uint(j, "unfinished", row->n_unfinished);
		json_int(j, "total_ns", row->total_ns);
		put_times(j, row);
		json_end_object(j);
	}
	json_end_list(j);
}

static void put_flows(struct json *j, const struct summary *summary)
{
	json_begin_list(j, "flows");
	for (size_t i = 0; i < summary->n_flows; i++) {
		const struct summary_flow *flow = &summary->flows[i];

		json_begin_object(j, NULL);
		json_text(j, "name", names_get(&summary->plane->event_names, flow->name));
		json_uint(j, "out", flow->n_out);
		json_uint(j, "in", flow->n_in);
		json_end_object(j);
	}
	json_end_list(j);
}

static void put_counters(struct json *j, const struct summary *summary)
{
	json_begin_list(j, "counters");
	for (size_t i = 0; i < summary->n_counters; i++) {
		const struct summary_counter *c = &summary->counters[i];

		json_begin_object(j, NULL);
		json_text(j, "name", names_get(&summary->plane->event_names, c->name));
		json_uint(j, "n", c->n);
		json_double(j, "min", c->min);
		json_double(j, "mean", c->mean);
		json_double(j, "max", c->max);
		json_double(j, "last", c->last);
		json_end_object(j);
	}
	json_end_list(j);
}

static void put_process(struct json *j, const struct plane *plane)
{
	int64_t pid;

	json_text(j, "process_name", report_get_process(plane, &pid));
	if (pid >= 0)
		json_int(j, "process_id", pid);
	else
		json_null(j, "process_id");
}

static void put_loss(struct json *j, const struct plane *plane)
{
	const char *name;
	uint64_t count;

	json_begin_object(j, "lost");
	for (size_t i = 0; i < plane->n_plane_stats; i++) {
		if (report_get_loss(plane, i, &name, &count))
			json_uint(j, name, count);
	}
	json_end_object(j);
}

static int put_plane(
	struct json *j, const struct plane *plane, const struct report_options *options)
{
	_cleanup_(summary_deinit) struct summary summary = {0};
	int rc = report_summarise(plane, options, &summary);

	if (rc)
		return rc;
	json_begin_object(j, NULL);
	json_text(j, "name", plane->name);
	json_int(j, "id", plane->id);
	put_process(j, plane);
	put_loss(j, plane);
	report_recorder_put_windows(j, plane);
	put_threads(j, &summary, options);
	put_steps(j, &summary);
	put_asyncs(j, &summary);
	put_flows(j, &summary);
	put_counters(j, &summary);
	json_end_object(j);
	return 0;
}

static int put_planes(
	struct json *j, const struct space *space, const struct report_options *options)
{
	json_begin_list(j, "planes");
	for (size_t i = 0; i < space->n_planes; i++) {
		int rc = put_plane(j, space->planes[i], options);

		if (rc)
			return rc;
	}
	json_end_list(j);
	return 0;
}

static void put_session(struct json *j, const struct space *space)
{
	struct report_session session;

	if (report_get_session(space, &session)) {
		json_uint(j, "start_unix_ns", session.start_unix_ns);
		json_uint(j, "duration_ns", session.stop_unix_ns - session.start_unix_ns);
	} else {
		json_null(j, "start_unix_ns");
		json_null(j, "duration_ns");
	}
}

void report_write_json_totals(struct json *j, const struct report_totals *t)
{
	json_uint(j, "spans", t->n_spans);
	json_uint(j, "threads", t->n_threads);
	json_uint(j, "async_spans", t->n_asyncs);
	json_uint(j, "instants", t->n_instants);
	json_uint(j, "flow_marks", t->n_flow_marks);
	json_uint(j, "counters", t->n_counters);
	json_uint(j, "counter_samples", t->n_counter_samples);
	json_uint(j, "steps", t->n_steps);
	json_uint(j, "dropped", t->n_dropped);
	json_uint(j, "unfinished", t->n_unfinished);
}

int report_write_json(const struct space *space, const char *title,
	const struct report_options *options, FILE *out)
{
	static const struct report_options defaults = {0};
	struct report_totals totals;
	struct json j;
	int rc;

	report_count(space, &totals);
	json_begin(&j, out);
	json_text(&j, "path", title);
	put_session(&j, space);
	put_names(&j, "hostnames", &space->hostnames);
	report_recorder_put_reason(&j, space);
	json_begin_object(&j, "totals");
	report_write_json_totals(&j, &totals);
	json_end_object(&j);
	put_names(&j, "errors", &space->errors);
	put_names(&j, "warnings", &space->warnings);
	rc = put_planes(&j, space, options ? options : &defaults);
	if (rc)
		return rc;
	json_end(&j);
	return fflush(out) || ferror(out) ? -EIO : 0;
}
