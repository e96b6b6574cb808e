/* SPDX-License-Identifier: Apache-2.0 */
/* The report for a terminal; see report.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "trace/quantity.h"
#include "trace/report.h"
#include "trace/report_facts.h"
#include "trace/report_recorder.h"
#include "trace/report_table.h"
#include "trace/space.h"
#include "trace/summary.h"

#define MAX_ROWS 40 /* names shown per thread, unless the user says */

/* --- head ---------------------------------------------------------------------------------- */

static void print_session(FILE *out, const struct space *space)
{
	struct report_session session;
	char cell[TABLE_CELL_BYTES];
	char when[64];
	struct tm tm;
	time_t start_s;

	if (!report_get_session(space, &session))
		return;
	start_s = (time_t)(session.start_unix_ns / 1000000000);
	if (!gmtime_r(&start_s, &tm) || !strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", &tm))
		return;
	fprintf(out, "recorded %s for %s\n", when,
		table_format_duration(
			cell, (int64_t)(session.stop_unix_ns - session.start_unix_ns)));
}

static void print_hosts(FILE *out, const struct names *hosts)
{
	for (uint32_t i = 0; i < hosts->n_texts; i++) {
		fputs(i ? ", " : "host ", out);
		table_print_text(out, hosts->texts[i]);
	}
	if (hosts->n_texts)
		fputc('\n', out);
}

static void print_totals(FILE *out, const struct space *space)
{
	struct report_totals t;

	report_count(space, &t);
	fprintf(out, "spans %s", quantity_count(t.n_spans).text);
	fprintf(out, " on %s %s", quantity_count(t.n_threads).text,
		t.n_threads == 1 ? "thread" : "threads");
	if (t.n_asyncs)
		fprintf(out, " · async spans %s", quantity_count(t.n_asyncs).text);
	if (t.n_instants)
		fprintf(out, " · instants %s", quantity_count(t.n_instants).text);
	if (t.n_flow_marks)
		fprintf(out, " · flow marks %s", quantity_count(t.n_flow_marks).text);
	fprintf(out, " · counters %s", quantity_count(t.n_counters).text);
	fprintf(out, " (%s samples)", quantity_count(t.n_counter_samples).text);
	fprintf(out, " · steps %s", quantity_count(t.n_steps).text);
	fprintf(out, " · dropped %s", quantity_count(t.n_dropped).text);
	if (t.n_unfinished)
		fprintf(out, " · unfinished %s", quantity_count(t.n_unfinished).text);
	fputc('\n', out);
}

/* --- planes -------------------------------------------------------------------------------- */

static void print_row(FILE *out, const struct plane *plane, const struct summary_row *row)
{
	fputc(' ', out);
	table_print_count(out, row->count);
	table_print_duration(out, row->total_ns);
	table_print_duration(out, row->self_ns);
	table_print_duration(out, row->total_ns / (int64_t)row->count);
	table_print_duration(out, row->p50_ns);
	table_print_duration(out, row->p99_ns);
	table_print_duration(out, row->max_ns);
	table_print_name(out, names_get(&plane->event_names, row->name), row->n_unfinished);
}

static void print_kinds(FILE *out, const struct plane *plane, const struct line *line)
{
	struct summary_keys keys;
	uint64_t n[EVENT_KINDS];

	summary_keys_init(&keys, plane);
	line_count_kinds(plane, &keys, line, n);
	fprintf(out, "%s spans", quantity_count(n[EVENT_SPAN]).text);
	if (n[EVENT_INSTANT])
		fprintf(out, " · %s instants", quantity_count(n[EVENT_INSTANT]).text);
	if (n[EVENT_FLOW_MARK])
		fprintf(out, " · %s flow marks", quantity_count(n[EVENT_FLOW_MARK]).text);
	fputc('\n', out);
}

static void print_line(FILE *out, const struct plane *plane, const struct summary_line *sum,
	const struct report_options *options)
{
	static const char *const heads[] = {"count", "total", "self", "mean", "p50", "p99", "max"};
	size_t n_shown = report_count_shown(sum->n_rows, MAX_ROWS, options);

	fputs("\nthread ", out);
	table_print_text(out, *sum->line->name ? sum->line->name : "(no name)");
	fprintf(out, " (%" PRId64 "): ", sum->line->id);
	print_kinds(out, plane, sum->line);
	table_print_heads(out, heads, sizeof heads / sizeof *heads);
	for (size_t i = 0; i < n_shown; i++)
		print_row(out, plane, &sum->rows[i]);
	if (n_shown < sum->n_rows)
		fprintf(out, "  … and %zu more name%s\n", sum->n_rows - n_shown,
			sum->n_rows - n_shown == 1 ? "" : "s");
}

static void print_steps(FILE *out, const struct summary *summary)
{
	static const char *const heads[] = {"count", "mean", "p50", "p99", "min", "max"};

	if (!summary->n_steps)
		return;
	fputs("\nsteps\n", out);
	table_print_heads(out, heads, sizeof heads / sizeof *heads);
	for (size_t i = 0; i < summary->n_steps; i++) {
		const struct summary_step *step = &summary->steps[i];

		fputc(' ', out);
		table_print_count(out, step->n);
		table_print_duration(out, step->mean_ns);
		table_print_duration(out, step->p50_ns);
		table_print_duration(out, step->p99_ns);
		table_print_duration(out, step->min_ns);
		table_print_duration(out, step->max_ns);
		table_print_name(out, names_get(&summary->plane->event_names, step->name),
			step->n_unfinished);
	}
}

static void print_asyncs(FILE *out, const struct summary *summary)
{
	static const char *const heads[] = {"count", "total", "mean", "p50", "p99", "min", "max"};

	if (!summary->n_asyncs)
		return;
	fputs("\nasync spans\n", out);
	table_print_heads(out, heads, sizeof heads / sizeof *heads);
	for (size_t i = 0; i < summary->n_asyncs; i++) {
		const struct summary_row *row = &summary->asyncs[i];

		fputc(' ', out);
		table_print_count(out, row->count);
		table_print_duration(out, row->total_ns);
		table_print_duration(out, row->total_ns / (int64_t)row->count);
		table_print_duration(out, row->p50_ns);
		table_print_duration(out, row->p99_ns);
		table_print_duration(out, row->min_ns);
		table_print_duration(out, row->max_ns);
		table_print_name(
			out, names_get(&summary->plane->event_names, row->name), row->n_unfinished);
	}
}

static void print_flows(FILE *out, const struct summary *summary)
{
	static const char *const heads[] = {"out", "in"};

	if (!summary->n_flows)
		return;
	fputs("\nflows\n", out);
	table_print_heads(out, heads, sizeof heads / sizeof *heads);
	for (size_t i = 0; i < summary->n_flows; i++) {
		const struct summary_flow *flow = &summary->flows[i];

		fputc(' ', out);
		table_print_count(out, flow->n_out);
		table_print_count(out, flow->n_in);
		table_print_name(out, names_get(&summary->plane->event_names, flow->name), 0);
	}
}

static void print_counters(FILE *out, const struct summary *summary)
{
	static const char *const heads[] = {"n", "min", "mean", "max", "last"};

	if (!summary->n_counters)
		return;
	fputs("\ncounters\n", out);
	table_print_heads(out, heads, sizeof heads / sizeof *heads);
	for (size_t i = 0; i < summary->n_counters; i++) {
		const struct summary_counter *c = &summary->counters[i];

		fputc(' ', out);
		table_print_count(out, c->n);
		fprintf(out, " %*.6g %*.6g %*.6g %*.6g", TABLE_WIDTH, c->min, TABLE_WIDTH, c->mean,
			TABLE_WIDTH, c->max, TABLE_WIDTH, c->last);
		table_print_name(out, names_get(&summary->plane->event_names, c->name), 0);
	}
}

static void print_loss(FILE *out, const struct plane *plane)
{
	const char *name;
	uint64_t count;

	for (size_t i = 0; i < plane->n_plane_stats; i++) {
		if (!report_get_loss(plane, i, &name, &count) || !count)
			continue;
		fputs("lost: ", out);
		table_print_text(out, name);
		fprintf(out, " %s\n", quantity_count(count).text);
	}
}

static void print_plane_head(FILE *out, const struct plane *plane)
{
	int64_t pid;
	const char *process = report_get_process(plane, &pid);

	fputs("\n== ", out);
	table_print_text(out, plane->name);
	if (process) {
		fputs(" · ", out);
		table_print_text(out, process);
	}
	if (pid >= 0)
		fprintf(out, " · pid %" PRId64, pid);
	fputs(" ==\n", out);
	print_loss(out, plane);
	report_recorder_print_windows(out, plane);
}

static int print_plane(FILE *out, const struct plane *plane, const struct report_options *options)
{
	_cleanup_(summary_deinit) struct summary summary = {0};
	int rc = report_summarise(plane, options, &summary);

	if (rc)
		return rc;
	if (strcmp(plane->name, PLANE_ENVIRONMENT) == 0 && !summary.n_lines)
		return 0;
	print_plane_head(out, plane);
	print_steps(out, &summary);
	for (size_t i = 0; i < summary.n_lines; i++)
		print_line(out, plane, &summary.lines[i], options);
	print_asyncs(out, &summary);
	print_flows(out, &summary);
	print_counters(out, &summary);
	return 0;
}

static void print_messages(FILE *out, const char *kind, const struct names *texts)
{
	for (uint32_t i = 0; i < texts->n_texts; i++) {
		fprintf(out, "%s: ", kind);
		table_print_text(out, texts->texts[i]);
		fputc('\n', out);
	}
}

int report_write_text(const struct space *space, const char *title,
	const struct report_options *options, FILE *out)
{
	static const struct report_options defaults = {0};

	table_print_text(out, title);
	fputc('\n', out);
	print_session(out, space);
	print_hosts(out, &space->hostnames);
	report_recorder_print_reason(out, space);
	print_totals(out, space);
	print_messages(out, "error", &space->errors);
	print_messages(out, "warning", &space->warnings);
	for (size_t i = 0; i < space->n_planes; i++) {
		int rc = print_plane(out, space->planes[i], options ? options : &defaults);

		if (rc)
			return rc;
	}
	return fflush(out) || ferror(out) ? -EIO : 0;
}
