/* SPDX-License-Identifier: Apache-2.0 */
/* proftap report: summarises a trace. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/command/command.h"
#include "client/process/exit.h"
#include "client/process/terminal.h"
#include "client/view/open_view.h"
#include "trace/report/digest.h"
#include "trace/report/drawing.h"
#include "trace/report/page.h"
#include "trace/report/report.h"

struct report_settings {
	struct report_options report;
	struct view_settings view;
	int64_t n_top;
	int64_t width;
	int64_t n_spans; /* the number in --spans; 0: write the report instead */
	int64_t depth;
	bool is_json;
	bool is_csv;
};

/* --- the options --------------------------------------------------------------------------- */

static const char *const keys[] = {
	[ROW_SELF] = "self",
	[ROW_TOTAL] = "total",
	[ROW_COUNT] = "count",
	[ROW_MEAN] = "mean",
	[ROW_P50] = "p50",
	[ROW_P99] = "p99",
	[ROW_P999] = "p999",
	[ROW_MAX] = "max",
	[ROW_NAME] = "name",
};

static int set_sort(void *settings, const char *value, struct diag *d)
{
	struct report_settings *s = settings;

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		if (strcmp(value, keys[i]) == 0) {
			s->report.sort = (enum row_key)i;
			return 0;
		}
	}
	return diag_set(d, -EINVAL,
		"--sort: bad value \"%.64s\": must be self, total, count, mean, p50, p99, p999, "
		"max or name",
		value);
}

static int set_slow(void *settings, const char *value, struct diag *d)
{
	struct report_settings *s = settings;
	char *end;

	errno = 0;
	s->report.slow = strtod(value, &end);
	if (end != value && !*end && !errno && isfinite(s->report.slow) && s->report.slow >= 1)
		return 0;
	return diag_set(d, -EINVAL,
		"--slow: bad value \"%.64s\": must be a number of at least 1, as in 1.5", value);
}

#define AT(member) offsetof(struct report_settings, member)

static const struct argument_option options[] = {
	{"json", 0, ARGUMENT_FLAG, AT(is_json), 0, 0, NULL, NULL,
		"print one JSON object instead of text"},
	{"csv", 0, ARGUMENT_FLAG, AT(is_csv), 0, 0, NULL, NULL,
		"print a CSV row for each name instead of text"},
	{"sort", 0, ARGUMENT_CALL, 0, 0, 0, set_sort, "KEY",
		"sort by self (default), total, count, mean, p50, p99, p999, max or name"},
	{"top", 0, ARGUMENT_INT, AT(n_top), 1, 1000000000, NULL, "N",
		"rows shown of a table; default 20, with --json and --csv all"},
	{"by_thread", 0, ARGUMENT_FLAG, AT(report.by_thread), 0, 0, NULL, NULL,
		"show the spans of each thread, too"},
	{"slow", 0, ARGUMENT_CALL, 0, 0, 0, set_slow, "FACTOR",
		"look for slow steps, requests and async spans where the slowest take FACTOR times "
		"the median; default 1.5"},
	{"spans", 0, ARGUMENT_INT, AT(n_spans), 1, DRAWING_MAX_SPANS, NULL, "N",
		"print the N longest spans instead, as JSON for a timeline"},
	{"depth", 0, ARGUMENT_INT, AT(depth), 1, DRAWING_MAX_DEPTH, NULL, "N",
		"with --spans: only spans that are inside of fewer than N others; default 1"},
	{"whole", 0, ARGUMENT_FLAG, AT(view.selection.is_whole), 0, 0, NULL, NULL,
		"include the time in which a flight recorder's data is partly overwritten"},
	{"width", 0, ARGUMENT_INT, AT(width), PAGE_MIN_WIDTH, 100000, NULL, "COLUMNS",
		"width of the text; default: the terminal's; in a pipe, names are not cut"},
	OPEN_VIEW_OPTIONS(struct report_settings, view),
};

static const struct command_words values[] = {
	{"sort", keys, sizeof keys / sizeof keys[0], NULL, NULL},
	{NULL, NULL, 0, NULL, NULL},
};

static int check_report(struct report_settings *s, int n_places, struct diag *d)
{
	if (n_places == 0)
		return diag_set(d, -EINVAL, "proftap report: no run or file given");
	if (s->is_json && s->is_csv)
		return diag_set(d, -EINVAL, "--json and --csv exclude each other");
	if (s->depth && !s->n_spans)
		return diag_set(d, -EINVAL, "--depth goes with --spans alone");
	if (s->is_csv && s->n_spans)
		return diag_set(d, -EINVAL, "--spans and --csv exclude each other");
	s->report.n_top = (size_t)s->n_top;
	s->report.width = s->width ? (size_t)s->width : terminal_get_width(stdout);
	s->report.has_color = terminal_has_color(stdout);
	return 0;
}

/* --- the report ---------------------------------------------------------------------------- */

static int write_report(struct digest *g, const struct report_settings *s)
{
	if (s->is_json)
		return report_write_json(g, &s->report, stdout);
	if (s->is_csv)
		return report_write_csv(g, &s->report, stdout);
	return report_write_text(g, &s->report, stdout);
}

static int write_drawing(const struct view *view, const struct report_settings *s, struct diag *d)
{
	const struct drawing_options wanted = {
		.n_spans = (size_t)s->n_spans, .depth = s->depth ? (size_t)s->depth : 1};
	int r = drawing_write_json(view, &wanted, stdout, d);

	return r < 0 && ferror(stdout) ? streams_fail(r) : r;
}

static int report_traces(struct report_settings *s, char **places, size_t n, struct diag *d)
{
	_cleanup_(view_freep) struct view *view = NULL;
	_cleanup_(digest_freep) struct digest *digest = NULL;
	_cleanup_free_ char *path = NULL;
	int r;

	s->view.may_match_nothing = s->n_spans != 0;
	r = open_view(places, n, &s->view, &view, &path, d);
	if (r == 0 && s->n_spans)
		return write_drawing(view, s, d);
	if (r == 0)
		r = digest_make(view, &digest, d);
	if (r < 0)
		return r;
	s->report.title = path;
	r = write_report(digest, s);
	if (r < 0 && ferror(stdout))
		return streams_fail(r);
	return r < 0 ? diag_set(d, r, "%.300s: no report: %s", path, errno_words(r)) : 0;
}

static int report_and_say(struct report_settings *s, char **places, size_t n)
{
	struct names unreadable = {0};
	struct diag d = DIAG_INIT;
	int code = EXIT_DONE;

	s->view.unreadable = &unreadable;
	if (report_traces(s, places, n, &d) < 0)
		code = EXIT_FAILED;
	for (uint32_t i = 0; i < unreadable.n_texts; i++) {
		fprintf(stderr, "%s\n", unreadable.texts[i]);
		code = EXIT_FAILED;
	}
	if (d.text[0])
		fprintf(stderr, "%s\n", d.text);
	names_deinit(&unreadable);
	return code;
}

static int parse_and_report(
	const struct command *self, int argc, char **argv, struct report_settings *s)
{
	struct diag d = DIAG_INIT;
	int n_left;
	int r = command_parse(self, argc, argv, s, &n_left, &d);

	if (r == COMMAND_HANDLED)
		return EXIT_DONE;
	if (r == 0)
		r = check_report(s, n_left, &d);
	if (r < 0)
		return command_fail_usage(self, &d);
	return report_and_say(s, argv, (size_t)n_left);
}

static int run_report(const struct command *self, int argc, char **argv)
{
	struct report_settings s = {.view = VIEW_SETTINGS_INIT};
	int code = parse_and_report(self, argc, argv, &s);

	view_settings_deinit(&s.view);
	return code;
}

const struct command command_report = {
	.name = "report",
	.usage = "[options] LOG_DIR|RUN|FILE ...",
	.summary = "sum up a trace: steps, spans, threads and devices",
	.arguments.options = options,
	.arguments.n_options = sizeof options / sizeof options[0],
	.values = values,
	.operands = ":files",
	.run = run_report,
};
