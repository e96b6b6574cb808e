/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report for a terminal; see report.h. Numbers stand in columns, names last, so that no name,
 * of whatever script or length, moves a column. Text from the trace can hold anything: control
 * characters become '?' and very long names are cut.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/printable.h"
#include "trace/quantity.h"
#include "trace/report.h"
#include "trace/report_facts.h"
#include "trace/space.h"
#include "trace/summary.h"

#define MAX_ROWS 40 /* names shown per thread; the JSON form has all */
#define MAX_NAME_BYTES 160
#define CELL_BYTES 32
#define WIDTH 10 /* of a column of numbers */

/* --- numbers and text ---------------------------------------------------------------------- */

/* Three significant digits and a unit. */
static const char *format_duration(char cell[CELL_BYTES], int64_t ns)
{
	static const struct {
		double below_ns;
		double unit_ns;
		const char *unit;
	} units[] = {{999.5e3, 1e3, "us"}, {999.5e6, 1e6, "ms"}, {1e300, 1e9, "s"}};
	double value;
	size_t i = 0;

	if (ns > -1000 && ns < 1000) {
		snprintf(cell, CELL_BYTES, "%" PRId64 " ns", ns);
		return cell;
	}
	while ((double)ns >= units[i].below_ns)
		i++;
	value = (double)ns / units[i].unit_ns;
	snprintf(cell, CELL_BYTES, "%.*f %s",
		value < 9.995	? 2
		: value < 99.95 ? 1
				: 0,
		value, units[i].unit);
	return cell;
}

static void print_text(FILE *out, const char *text)
{
	size_t n = strlen(text);
	size_t shown = 0;

	for (size_t i = 0; i < n && shown < MAX_NAME_BYTES;) {
		size_t kept;
		size_t length = printable_next(text + i, n - i, &kept);

		if (kept)
			fwrite(text + i, 1, kept, out);
		else
			fputc('?', out);
		i += length;
		shown = i;
	}
	fputs(shown < n ? "…" : "", out);
}

static void print_duration(FILE *out, int64_t ns)
{
	char cell[CELL_BYTES];

	fprintf(out, " %*s", WIDTH, format_duration(cell, ns));
}

static void print_count(FILE *out, uint64_t count)
{
	fprintf(out, " %*s", WIDTH, quantity_count(count).text);
}

static void print_heads(FILE *out, const char *const heads[], size_t n)
{
	fputc(' ', out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, " %*s", WIDTH, heads[i]);
	fputs("  name\n", out);
}

static void print_name(FILE *out, const char *name, uint64_t n_unfinished)
{
	fputs("  ", out);
	print_text(out, *name ? name : "(no name)");
	if (n_unfinished)
		fprintf(out, "  [%" PRIu64 " unfinished]", n_unfinished);
	fputc('\n', out);
}

/* --- head ---------------------------------------------------------------------------------- */

static void print_session(FILE *out, const struct space *space)
{
	struct report_session session;
	char cell[CELL_BYTES];
	char when[64];
	struct tm tm;
	time_t start_s;

	if (!report_get_session(space, &session))
		return;
	start_s = (time_t)(session.start_unix_ns / 1000000000);
	if (!gmtime_r(&start_s, &tm) || !strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", &tm))
		return;
	fprintf(out, "recorded %s for %s\n", when,
		format_duration(cell, (int64_t)(session.stop_unix_ns - session.start_unix_ns)));
}

static void print_hosts(FILE *out, const struct names *hosts)
{
	for (uint32_t i = 0; i < hosts->n_texts; i++) {
		fputs(i ? ", " : "host ", out);
		print_text(out, hosts->texts[i]);
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
	print_count(out, row->count);
	print_duration(out, row->total_ns);
	print_duration(out, row->self_ns);
	print_duration(out, row->total_ns / (int64_t)row->count);
	print_duration(out, row->max_ns);
	print_name(out, names_get(&plane->event_names, row->name), row->n_unfinished);
}

static void print_line(FILE *out, const struct plane *plane, const struct summary_line *sum)
{
	static const char *const heads[] = {"count", "total", "self", "mean", "max"};
	size_t n_shown = sum->n_rows < MAX_ROWS ? sum->n_rows : MAX_ROWS;

	fputs("\nthread ", out);
	print_text(out, *sum->line->name ? sum->line->name : "(no name)");
	fprintf(out, " (%" PRId64 "): %s spans\n", sum->line->id,
		quantity_count(sum->line->n_events).text);
	print_heads(out, heads, sizeof heads / sizeof *heads);
	for (size_t i = 0; i < n_shown; i++)
		print_row(out, plane, &sum->rows[i]);
	if (n_shown < sum->n_rows)
		fprintf(out, "  … and %zu more names\n", sum->n_rows - n_shown);
}

static void print_steps(FILE *out, const struct summary *summary)
{
	static const char *const heads[] = {"count", "mean", "p50", "p99", "min", "max"};

	if (!summary->n_steps)
		return;
	fputs("\nsteps\n", out);
	print_heads(out, heads, sizeof heads / sizeof *heads);
	for (size_t i = 0; i < summary->n_steps; i++) {
		const struct summary_step *step = &summary->steps[i];

		fputc(' ', out);
		print_count(out, step->n);
		print_duration(out, step->mean_ns);
		print_duration(out, step->p50_ns);
		print_duration(out, step->p99_ns);
		print_duration(out, step->min_ns);
		print_duration(out, step->max_ns);
		print_name(out, names_get(&summary->plane->event_names, step->name),
			step->n_unfinished);
	}
}

static void print_counters(FILE *out, const struct summary *summary)
{
	static const char *const heads[] = {"n", "min", "mean", "max", "last"};

	if (!summary->n_counters)
		return;
	fputs("\ncounters\n", out);
	print_heads(out, heads, sizeof heads / sizeof *heads);
	for (size_t i = 0; i < summary->n_counters; i++) {
		const struct summary_counter *c = &summary->counters[i];

		fputc(' ', out);
		print_count(out, c->n);
		fprintf(out, " %*.6g %*.6g %*.6g %*.6g", WIDTH, c->min, WIDTH, c->mean, WIDTH,
			c->max, WIDTH, c->last);
		print_name(out, names_get(&summary->plane->event_names, c->name), 0);
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
		print_text(out, name);
		fprintf(out, " %s\n", quantity_count(count).text);
	}
}

static void print_plane_head(FILE *out, const struct plane *plane)
{
	int64_t pid;
	const char *process = report_get_process(plane, &pid);

	fputs("\n== ", out);
	print_text(out, plane->name);
	if (process) {
		fputs(" · ", out);
		print_text(out, process);
	}
	if (pid >= 0)
		fprintf(out, " · pid %" PRId64, pid);
	fputs(" ==\n", out);
	print_loss(out, plane);
}

static int print_plane(FILE *out, const struct plane *plane)
{
	_cleanup_(summary_deinit) struct summary summary = {0};
	int rc = summary_init(&summary, plane);

	if (rc)
		return rc;
	if (strcmp(plane->name, PLANE_ENVIRONMENT) == 0 && !summary.n_lines)
		return 0;
	print_plane_head(out, plane);
	print_steps(out, &summary);
	for (size_t i = 0; i < summary.n_lines; i++)
		print_line(out, plane, &summary.lines[i]);
	print_counters(out, &summary);
	return 0;
}

static void print_messages(FILE *out, const char *kind, const struct names *texts)
{
	for (uint32_t i = 0; i < texts->n_texts; i++) {
		fprintf(out, "%s: ", kind);
		print_text(out, texts->texts[i]);
		fputc('\n', out);
	}
}

int report_write_text(const struct space *space, const char *title, FILE *out)
{
	print_text(out, title);
	fputc('\n', out);
	print_session(out, space);
	print_hosts(out, &space->hostnames);
	print_totals(out, space);
	print_messages(out, "error", &space->errors);
	print_messages(out, "warning", &space->warnings);
	for (size_t i = 0; i < space->n_planes; i++) {
		int rc = print_plane(out, space->planes[i]);

		if (rc)
			return rc;
	}
	return fflush(out) || ferror(out) ? -EIO : 0;
}
