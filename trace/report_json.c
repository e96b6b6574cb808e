/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as one JSON object; see report.h. Keys are stable; times are integers in nanoseconds;
 * what is unknown is null or an empty list, never left out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "trace/report.h"
#include "trace/report_facts.h"
#include "trace/space.h"
#include "trace/summary.h"

/* Where the next member goes: a comma stands before each but the first of its object or list. */
struct json {
	FILE *out;
	bool is_first;
};

static void put_escaped(FILE *out, const char *p, size_t length)
{
	if (length == 0)
		fputc('?', out);
	else if (*p == '"' || *p == '\\')
		fprintf(out, "\\%c", *p);
	else if (printable_length(p, length) == 0)
		fprintf(out, "\\u%04x", (unsigned int)(unsigned char)p[length - 1]);
	else
		fwrite(p, 1, length, out);
}

static void put_string(FILE *out, const char *text)
{
	size_t n = strlen(text);

	fputc('"', out);
	for (size_t i = 0; i < n;) {
		size_t length = utf8_length(text + i, n - i);

		put_escaped(out, text + i, length);
		i += length ? length : 1;
	}
	fputc('"', out);
}

static void next_member(struct json *j, const char *key)
{
	if (!j->is_first)
		fputc(',', j->out);
	j->is_first = false;
	if (key) {
		put_string(j->out, key);
		fputc(':', j->out);
	}
}

/* |key| is NULL in a list. */
static void open_nest(struct json *j, const char *key, char bracket)
{
	next_member(j, key);
	fputc(bracket, j->out);
	j->is_first = true;
}

static void close_nest(struct json *j, char bracket)
{
	fputc(bracket, j->out);
	j->is_first = false;
}

static void put_text(struct json *j, const char *key, const char *text)
{
	next_member(j, key);
	put_string(j->out, text);
}

static void put_null(struct json *j, const char *key)
{
	next_member(j, key);
	fputs("null", j->out);
}

static void put_int(struct json *j, const char *key, int64_t value)
{
	next_member(j, key);
	fprintf(j->out, "%" PRId64, value);
}

static void put_uint(struct json *j, const char *key, uint64_t value)
{
	next_member(j, key);
	fprintf(j->out, "%" PRIu64, value);
}

static void put_double(struct json *j, const char *key, double value)
{
	next_member(j, key);
	fprintf(j->out, "%.17g", value);
}

static void put_list(struct json *j, const char *key, const struct names *texts)
{
	open_nest(j, key, '[');
	for (uint32_t i = 0; i < texts->n_texts; i++)
		put_text(j, NULL, texts->texts[i]);
	close_nest(j, ']');
}

static void put_row(struct json *j, const struct plane *plane, const struct summary_row *row)
{
	open_nest(j, NULL, '{');
	put_text(j, "name", names_get(&plane->event_names, row->name));
	put_uint(j, "count", row->count);
	put_uint(j, "unfinished", row->n_unfinished);
	put_int(j, "total_ns", row->total_ns);
	put_int(j, "self_ns", row->self_ns);
	put_int(j, "min_ns", row->min_ns);
	put_int(j, "mean_ns", row->total_ns / (int64_t)row->count);
	put_int(j, "p50_ns", row->p50_ns);
	put_int(j, "p99_ns", row->p99_ns);
	put_int(j, "max_ns", row->max_ns);
	close_nest(j, '}');
}

static void put_threads(
	struct json *j, const struct summary *summary, const struct report_options *options)
{
	open_nest(j, "threads", '[');
	for (size_t i = 0; i < summary->n_lines; i++) {
		const struct summary_line *line = &summary->lines[i];
		size_t n_shown = report_count_shown(line->n_rows, 0, options);

		open_nest(j, NULL, '{');
		put_int(j, "id", line->line->id);
		put_text(j, "name", line->line->name);
		put_uint(j, "n_spans", line->line->n_events);
		open_nest(j, "spans", '[');
		for (size_t k = 0; k < n_shown; k++)
			put_row(j, summary->plane, &line->rows[k]);
		close_nest(j, ']');
		close_nest(j, '}');
	}
	close_nest(j, ']');
}

static void put_steps(struct json *j, const struct summary *summary)
{
	open_nest(j, "steps", '[');
	for (size_t i = 0; i < summary->n_steps; i++) {
		const struct summary_step *step = &summary->steps[i];

		open_nest(j, NULL, '{');
		put_text(j, "name", names_get(&summary->plane->event_names, step->name));
		put_uint(j, "count", step->n);
		put_uint(j, "unfinished", step->n_unfinished);
		put_int(j, "mean_ns", step->mean_ns);
		put_int(j, "p50_ns", step->p50_ns);
		put_int(j, "p99_ns", step->p99_ns);
		put_int(j, "min_ns", step->min_ns);
		put_int(j, "max_ns", step->max_ns);
		close_nest(j, '}');
	}
	close_nest(j, ']');
}

static void put_asyncs(struct json *j, const struct summary *summary)
{
	open_nest(j, "async_spans", '[');
	for (size_t i = 0; i < summary->n_asyncs; i++) {
		const struct summary_row *row = &summary->asyncs[i];

		open_nest(j, NULL, '{');
		put_text(j, "name", names_get(&summary->plane->event_names, row->name));
		put_uint(j, "count", row->count);
		put_uint(j, "unfinished", row->n_unfinished);
		put_int(j, "total_ns", row->total_ns);
		put_int(j, "min_ns", row->min_ns);
		put_int(j, "mean_ns", row->total_ns / (int64_t)row->count);
		put_int(j, "p50_ns", row->p50_ns);
		put_int(j, "p99_ns", row->p99_ns);
		put_int(j, "max_ns", row->max_ns);
		close_nest(j, '}');
	}
	close_nest(j, ']');
}

static void put_flows(struct json *j, const struct summary *summary)
{
	open_nest(j, "flows", '[');
	for (size_t i = 0; i < summary->n_flows; i++) {
		const struct summary_flow *flow = &summary->flows[i];

		open_nest(j, NULL, '{');
		put_text(j, "name", names_get(&summary->plane->event_names, flow->name));
		put_uint(j, "out", flow->n_out);
		put_uint(j, "in", flow->n_in);
		close_nest(j, '}');
	}
	close_nest(j, ']');
}

static void put_counters(struct json *j, const struct summary *summary)
{
	open_nest(j, "counters", '[');
	for (size_t i = 0; i < summary->n_counters; i++) {
		const struct summary_counter *c = &summary->counters[i];

		open_nest(j, NULL, '{');
		put_text(j, "name", names_get(&summary->plane->event_names, c->name));
		put_uint(j, "n", c->n);
		put_double(j, "min", c->min);
		put_double(j, "mean", c->mean);
		put_double(j, "max", c->max);
		put_double(j, "last", c->last);
		close_nest(j, '}');
	}
	close_nest(j, ']');
}

static void put_process(struct json *j, const struct plane *plane)
{
	int64_t pid;
	const char *process = report_get_process(plane, &pid);

	if (process)
		put_text(j, "process_name", process);
	else
		put_null(j, "process_name");
	if (pid >= 0)
		put_int(j, "process_id", pid);
	else
		put_null(j, "process_id");
}

static void put_loss(struct json *j, const struct plane *plane)
{
	const char *name;
	uint64_t count;

	open_nest(j, "lost", '{');
	for (size_t i = 0; i < plane->n_plane_stats; i++) {
		if (report_get_loss(plane, i, &name, &count))
			put_uint(j, name, count);
	}
	close_nest(j, '}');
}

static int put_plane(
	struct json *j, const struct plane *plane, const struct report_options *options)
{
	_cleanup_(summary_deinit) struct summary summary = {0};
	int rc = report_summarise(plane, options, &summary);

	if (rc)
		return rc;
	open_nest(j, NULL, '{');
	put_text(j, "name", plane->name);
	put_int(j, "id", plane->id);
	put_process(j, plane);
	put_loss(j, plane);
	put_threads(j, &summary, options);
	put_steps(j, &summary);
	put_asyncs(j, &summary);
	put_flows(j, &summary);
	put_counters(j, &summary);
	close_nest(j, '}');
	return 0;
}

static int put_planes(
	struct json *j, const struct space *space, const struct report_options *options)
{
	open_nest(j, "planes", '[');
	for (size_t i = 0; i < space->n_planes; i++) {
		int rc = put_plane(j, space->planes[i], options);

		if (rc)
			return rc;
	}
	close_nest(j, ']');
	return 0;
}

static void put_session(struct json *j, const struct space *space)
{
	struct report_session session;

	if (report_get_session(space, &session)) {
		put_uint(j, "start_unix_ns", session.start_unix_ns);
		put_uint(j, "duration_ns", session.stop_unix_ns - session.start_unix_ns);
	} else {
		put_null(j, "start_unix_ns");
		put_null(j, "duration_ns");
	}
}

static void put_totals(struct json *j, const struct space *space)
{
	struct report_totals t;

	report_count(space, &t);
	open_nest(j, "totals", '{');
	put_uint(j, "spans", t.n_spans);
	put_uint(j, "threads", t.n_threads);
	put_uint(j, "async_spans", t.n_asyncs);
	put_uint(j, "flow_marks", t.n_flow_marks);
	put_uint(j, "counters", t.n_counters);
	put_uint(j, "counter_samples", t.n_counter_samples);
	put_uint(j, "steps", t.n_steps);
	put_uint(j, "dropped", t.n_dropped);
	put_uint(j, "unfinished", t.n_unfinished);
	close_nest(j, '}');
}

int report_write_json(const struct space *space, const char *title,
	const struct report_options *options, FILE *out)
{
	static const struct report_options defaults = {0};
	struct json j = {out, true};
	int rc;

	open_nest(&j, NULL, '{');
	put_text(&j, "path", title);
	put_session(&j, space);
	put_list(&j, "hostnames", &space->hostnames);
	put_totals(&j, space);
	put_list(&j, "errors", &space->errors);
	put_list(&j, "warnings", &space->warnings);
	rc = put_planes(&j, space, options ? options : &defaults);
	if (rc)
		return rc;
	close_nest(&j, '}');
	fputc('\n', out);
	return fflush(out) || ferror(out) ? -EIO : 0;
}
