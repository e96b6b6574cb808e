/* SPDX-License-Identifier: Apache-2.0 */
/* proftap diff: compares two traces. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/grow.h"
#include "base/options.h"
#include "client/command/command.h"
#include "client/process/exit.h"
#include "client/process/terminal.h"
#include "client/view/open_view.h"
#include "trace/report/diff.h"
#include "trace/report/diff_report.h"
#include "trace/report/digest.h"
#include "trace/report/page.h"

#define MAX_TOLD 20 /* the number of verdicts of one kind that are printed one by one */

struct diff_settings {
	struct diff_options diff;
	struct view_settings view;
	struct diff_limit *limits;
	size_t n_limits;
	size_t n_limits_allocated;
	const char *per;
	int64_t n_top;
	int64_t width;
	bool is_json;
};

/* --- the options --------------------------------------------------------------------------- */

static int fail_metric(const char *word, size_t n, struct diag *d)
{
	enum diff_metric best = DIFF_TOTAL;
	char typed[64];

	snprintf(typed, sizeof typed, "%.*s", (int)(n < sizeof typed ? n : sizeof typed - 1), word);
	for (int i = 0; i < DIFF_METRICS; i++)
		if (nearest_distance(typed, diff_get_metric_name((enum diff_metric)i)) <=
			nearest_distance(typed, diff_get_metric_name(best)))
			best = (enum diff_metric)i;
	return diag_set(d, -EINVAL,
		"--fail_above: unknown metric \"%.*s\"; the nearest is %s; there are total, mean, "
		"p50, "
		"p90, p99, p999, max, count and rate",
		(int)n, word, diff_get_metric_name(best));
}

static bool parse_percent(const char *text, double *limit)
{
	char *end;

	errno = 0;
	*limit = strtod(text, &end) / 100;
	return end != text && (!*end || (*end == '%' && !end[1])) && !errno && isfinite(*limit) &&
	       *limit >= 0;
}

/* Parses "METRIC:NAME:PERCENT", where the name may have colons, "METRIC:PERCENT", or "PERCENT". */
static int parse_limit(const char *value, struct diff_limit *limit, struct diag *d)
{
	const char *first = strchr(value, ':');
	const char *last = strrchr(value, ':');

	if (!parse_percent(last ? last + 1 : value, &limit->limit))
		return diag_set(d, -EINVAL,
			"--fail_above: bad value \"%.64s\": must be a percentage, as in 10%%, or "
			"METRIC:10%%, or METRIC:NAME:10%%",
			value);
	if (!first)
		return 0;
	limit->metric = diff_find_metric(value, (size_t)(first - value));
	if (limit->metric == DIFF_METRICS)
		return fail_metric(value, (size_t)(first - value), d);
	if (first == last)
		return 0;
	limit->name = strndup(first + 1, (size_t)(last - first - 1));
	return limit->name ? 0 : diag_set(d, -ENOMEM, "--fail_above: out of memory");
}

static int add_limit(void *settings, const char *value, struct diag *d)
{
	struct diff_settings *s = settings;
	struct diff_limit limit = {.metric = DIFF_USUAL};
	int r = parse_limit(value, &limit, d);

	if (r)
		return r;
	if (grow(&s->limits, &s->n_limits_allocated, s->n_limits + 1)) {
		free(limit.name);
		return diag_set(d, -ENOMEM, "--fail_above: out of memory");
	}
	s->limits[s->n_limits++] = limit;
	return 0;
}

#define AT(member) offsetof(struct diff_settings, member)

static const struct argument_option options[] = {
	{"json", 0, ARGUMENT_FLAG, AT(is_json), 0, 0, NULL, NULL,
		"print one JSON object instead of text"},
	{"fail_above", 0, ARGUMENT_CALL, 0, 0, 0, add_limit, "LIMIT",
		"exit with 1 if a value got worse by more than LIMIT and more than chance "
		"explains: 10%, METRIC:10% or METRIC:NAME:10%"},
	{"per", 0, ARGUMENT_TEXT, AT(per), 0, 0, NULL, "UNIT",
		"divide totals and counts by: second, trace, or the name of a step or request"},
	{"top", 0, ARGUMENT_INT, AT(n_top), 1, 1000000000, NULL, "N",
		"lines shown of each list; default 40 of the first list, 20 of the others, with "
		"--json all"},
	{"width", 0, ARGUMENT_INT, AT(width), PAGE_MIN_WIDTH, 100000, NULL, "COLUMNS",
		"width of the text; default: the terminal's, or 80"},
	{"whole", 0, ARGUMENT_FLAG, AT(view.selection.is_whole), 0, 0, NULL, NULL,
		"include the time in which a flight recorder's data is partly overwritten"},
	OPEN_VIEW_OPTIONS(struct diff_settings, view),
};

static const char *get_metric(size_t i)
{
	return i < DIFF_METRICS ? diff_get_metric_name((enum diff_metric)i) : NULL;
}

static const struct command_words values[] = {
	{"fail_above", NULL, 0, get_metric, ":"},
	{NULL, NULL, 0, NULL, NULL},
};

/* --- the comparison ------------------------------------------------------------------------ */

struct diff_side {
	struct view *view;
	struct digest *digest;
	char *path;
};

static int read_side(
	struct diff_side *side, char *place, const struct diff_settings *s, struct diag *d)
{
	int r = open_view(&place, 1, &s->view, &side->view, &side->path, d);

	return r ? r : digest_make(side->view, &side->digest, d);
}

static void side_deinit(struct diff_side *side)
{
	digest_free(side->digest);
	view_free(side->view);
	free(side->path);
}

/* Finds the name that is most like |name|; NULL: both traces are empty. */
static const char *find_nearest(const struct diff *diff, const char *name)
{
	const char *nearest = NULL;

	for (size_t i = 0; i < diff->n + diff->n_same; i++)
		if (!nearest ||
			nearest_distance(name, diff->v[i].name) < nearest_distance(name, nearest))
			nearest = diff->v[i].name;
	return nearest;
}

static void write_quoted(const char *name)
{
	fputs("\"", stderr);
	terminal_write(name, stderr);
	fputs("\"", stderr);
}

static void say_in_neither(const struct diff *diff, const char *name)
{
	const char *nearest = find_nearest(diff, name);

	fputs("no trace has ", stderr);
	write_quoted(name);
	if (!nearest)
		return;
	fputs(" (the nearest name is ", stderr);
	write_quoted(nearest);
	fputs(")", stderr);
}

static void say_missing(const struct diff *diff, const struct diff_judgement *j)
{
	const char *metric = diff_get_metric_name(j->limit->metric);
	double percent = 100 * j->limit->limit;

	fputs("nothing to compare: ", stderr);
	if (!j->row) {
		say_in_neither(diff, j->limit->name);
		fprintf(stderr,
			"; write --fail_above %s:NAME:%g%% with a name that is in both "
			"traces\n",
			metric, percent);
		return;
	}
	write_quoted(j->limit->name);
	fprintf(stderr,
		" is only in B, so it has no %s before; to set a limit for a new name, write "
		"--fail_above "
		"\"count:",
		metric);
	terminal_write(j->limit->name, stderr);
	fprintf(stderr, ":%g%%\"\n", percent);
}

static void say_absent(const struct diff *diff, const struct diff_judgement *j)
{
	fprintf(stderr, "%s of ", diff_get_metric_name(j->limit->metric));
	write_quoted(j->limit->name);
	fputs(": ", stderr);
	if (j->row)
		fputs("the name is only in A, so it cannot have got worse", stderr);
	else
		say_in_neither(diff, j->limit->name);
	fputs(": passed\n", stderr);
}

static void say_judgement(const struct diff *diff, const struct diff_judgement *j)
{
	switch (j->outcome) {
	case DIFF_PASSED:
		break;
	case DIFF_MISSING:
		say_missing(diff, j);
		break;
	case DIFF_ABSENT:
		say_absent(diff, j);
		break;
	case DIFF_FAILED:
	case DIFF_UNCOMPARED:
		diff_write_judgement(diff, j, stderr);
		fputs("\n", stderr);
		break;
	case DIFF_MAYBE:
		diff_write_judgement(diff, j, stderr);
		fprintf(stderr, "; it may be chance (p = %.2g): not counted\n", j->p);
		break;
	case DIFF_UNTOLD:
		diff_write_judgement(diff, j, stderr);
		fprintf(stderr,
			"; too few values to judge, %" PRIu64 " and %" PRIu64 ": not "
			"counted\n",
			j->row->a->count, j->row->b->count);
		break;
	}
}

/*
 * Prints verdicts: all failures, all about a limit's name that a trace lacks, and the first
 * MAX_TOLD others.
 */
static void say_outcome(const struct diff *diff, const struct diff_judgements *judgements,
	enum diff_outcome outcome)
{
	bool is_told = outcome == DIFF_FAILED || outcome == DIFF_MISSING || outcome == DIFF_ABSENT;
	size_t n = 0;

	for (size_t i = 0; i < judgements->n; i++)
		if (judgements->v[i].outcome == outcome && (n++ < MAX_TOLD || is_told))
			say_judgement(diff, &judgements->v[i]);
	if (n > MAX_TOLD && outcome == DIFF_UNCOMPARED)
		fprintf(stderr, "%zu more numbers are not compared: events were lost\n",
			n - MAX_TOLD);
	else if (n > MAX_TOLD && !is_told)
		fprintf(stderr, "%zu more changes are above the limit, %s\n", n - MAX_TOLD,
			outcome == DIFF_UNTOLD ? "but have too few values to judge"
					       : "and may be chance");
}

/* Fails if nothing was compared: a program that ended early must not count as faster. */
static int check_compared(const struct diff *diff, const struct digest *a)
{
	if (!diff->n_compared)
		fputs("nothing was compared: no name is in both traces\n", stderr);
	else if (a->lists[LIST_STEPS].n && !diff->n_steps_compared)
		fputs("no step was compared: B has none of the steps of A\n", stderr);
	else
		return EXIT_DONE;
	return EXIT_FAILED;
}

static int fail_above(
	const struct diff *diff, const struct digest *a, const struct diff_judgements *judgements)
{
	static const enum diff_outcome outcomes[] = {
		DIFF_FAILED, DIFF_MISSING, DIFF_ABSENT, DIFF_UNCOMPARED, DIFF_MAYBE, DIFF_UNTOLD};
	int code = check_compared(diff, a);

	if (code)
		return code;
	for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++)
		say_outcome(diff, judgements, outcomes[i]);
	for (size_t i = 0; i < judgements->n; i++)
		if (judgements->v[i].outcome == DIFF_FAILED ||
			judgements->v[i].outcome == DIFF_MISSING)
			code = EXIT_FAILED;
	return code;
}

static int write_diff(const struct diff *diff, const struct diff_side *a, const struct diff_side *b,
	struct diff_settings *s)
{
	s->diff.path_a = a->path;
	s->diff.path_b = b->path;
	if (s->is_json)
		return diff_write_json(diff, a->digest, b->digest, &s->diff, stdout);
	return diff_write_text(diff, a->digest, b->digest, &s->diff, stdout);
}

/*
 * Returns an exit code, or a negative errno with |d|, which is empty if the reason has been
 * printed.
 */
static int compare_sides(
	struct diff_side *a, struct diff_side *b, struct diff_settings *s, struct diag *d)
{
	struct diff_judgements judgements = {.v = NULL};
	struct diff diff;
	int r = diff_make(a->digest, b->digest, s->per, &diff, d);

	if (r == 0)
		r = diff_judge(&diff, s->limits, s->n_limits, &judgements);
	s->diff.judgements = &judgements;
	if (r == 0)
		r = write_diff(&diff, a, b, s);
	if (r == 0)
		r = s->n_limits ? fail_above(&diff, a->digest, &judgements) : EXIT_DONE;
	free(judgements.v);
	diff_deinit(&diff);
	if (r < 0 && ferror(stdout))
		return streams_fail(r);
	return r < 0 && !d->text[0] ? diag_set(d, r, "no comparison: %s", errno_words(r)) : r;
}

static int diff_places(char **places, struct diff_settings *s)
{
	struct diff_side a = {.view = NULL};
	struct diff_side b = {.view = NULL};
	struct diag d = DIAG_INIT;
	int r = read_side(&a, places[0], s, &d);

	if (r == 0)
		r = read_side(&b, places[1], s, &d);
	if (r == 0)
		r = compare_sides(&a, &b, s, &d);
	if (d.text[0])
		fprintf(stderr, "%s\n", d.text);
	side_deinit(&b);
	side_deinit(&a);
	return r < 0 ? EXIT_FAILED : r;
}

static int parse_and_diff(
	const struct command *self, int argc, char **argv, struct diff_settings *s)
{
	struct diag d = DIAG_INIT;
	int n_left;
	int r = command_parse(self, argc, argv, s, &n_left, &d);

	if (r == COMMAND_HANDLED)
		return EXIT_DONE;
	if (r == 0 && n_left != 2)
		r = diag_set(&d, -EINVAL, "proftap diff: two runs or files must be given");
	if (r < 0)
		return command_fail_usage(self, &d);
	s->diff.n_top = (size_t)s->n_top;
	s->diff.width = s->width ? (size_t)s->width : terminal_get_width(stdout);
	s->diff.has_color = terminal_has_color(stdout);
	return diff_places(argv, s);
}

static void settings_deinit(struct diff_settings *s)
{
	for (size_t i = 0; i < s->n_limits; i++)
		free(s->limits[i].name);
	free(s->limits);
	view_settings_deinit(&s->view);
}

static int run_diff(const struct command *self, int argc, char **argv)
{
	struct diff_settings s = {.view = VIEW_SETTINGS_INIT};
	int code = parse_and_diff(self, argc, argv, &s);

	settings_deinit(&s);
	return code;
}

const struct command command_diff = {
	.name = "diff",
	.usage = "[options] A B",
	.summary = "print the changes between two traces",
	.arguments.options = options,
	.arguments.n_options = sizeof options / sizeof options[0],
	.values = values,
	.operands = ":files",
	.run = run_diff,
};
