/* SPDX-License-Identifier: Apache-2.0 */
/* proftap diff: what changed between two traces. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/command/arguments.h"
#include "client/command/command.h"
#include "client/process/exit.h"
#include "client/process/streams.h"
#include "client/process/terminal.h"
#include "client/view/open_view.h"
#include "trace/report/diff.h"
#include "trace/report/diff_report.h"
#include "trace/report/digest.h"
#include "trace/report/page.h"

#define MAX_UNTOLD 20 /* names that are told one by one */

struct settings {
	struct diff_options diff;
	struct view_settings view;
	int64_t n_top;
	int64_t width;
	bool is_json;
};

/* --- the options --------------------------------------------------------------------------- */

static int set_limit(void *settings, const char *value, struct diag *d)
{
	struct settings *s = settings;
	double percent;
	char *end;

	errno = 0;
	percent = strtod(value, &end);
	if (end != value && (!*end || (*end == '%' && !end[1])) && !errno && isfinite(percent) &&
		percent >= 0) {
		s->diff.limit = percent / 100;
		return 0;
	}
	return diag_set(d, -EINVAL,
		"--fail_above: bad value \"%.64s\": must be a percentage, as in 10%%", value);
}

#define AT(member) offsetof(struct settings, member)

static const struct command_option options[] = {
	{"json", 0, COMMAND_OPTION_FLAG, AT(is_json), 0, 0, NULL, NULL,
		"one JSON object instead of text"},
	{"fail_above", 0, COMMAND_OPTION_CALL, 0, 0, 0, set_limit, "PERCENT",
		"exit with 1 if the median of a step or name rose by more, and not by chance"},
	{"top", 0, COMMAND_OPTION_INT, AT(n_top), 1, 1000000000, NULL, "N",
		"names shown of each list; default 20, with --json all"},
	{"width", 0, COMMAND_OPTION_INT, AT(width), PAGE_MIN_WIDTH, 100000, NULL, "COLUMNS",
		"of the text; default: the terminal's, or 80"},
	OPEN_VIEW_OPTIONS(struct settings, view),
};

/* --- the comparison ------------------------------------------------------------------------ */

struct side {
	struct view *view;
	struct digest *digest;
	char *path;
};

static int read_side(struct side *side, char *place, const struct settings *s, struct diag *d)
{
	int r = open_view(&place, 1, &s->view, &side->view, &side->path, d);

	return r ? r : digest_make(side->view, &side->digest, d);
}

static void side_deinit(struct side *side)
{
	digest_free(side->digest);
	view_free(side->view);
	free(side->path);
}

static void say_rise(const struct diff_row *row)
{
	fputs("the median of ", stderr);
	terminal_write(row->name, stderr);
	fprintf(stderr, " rose by %.1f %%", 100 * diff_get_change(row));
}

/* What rose too much is told beside the report, for logs. */
static int say_risen(const struct diff *diff, double limit)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < diff->n; i++) {
		if (!diff_is_above(&diff->v[i], limit))
			continue;
		say_rise(&diff->v[i]);
		fprintf(stderr, ", more than %g %%\n", 100 * limit);
		code = EXIT_FAILED;
	}
	return code;
}

/* What may have: there can be many of these, the largest are first. */
static void say_untold(const struct diff *diff, double limit)
{
	size_t n = 0;

	for (size_t i = 0; i < diff->n; i++) {
		const struct diff_row *row = &diff->v[i];

		if (!diff_is_untold(row, limit) || n++ >= MAX_UNTOLD)
			continue;
		say_rise(row);
		fprintf(stderr, "; too few to tell, %" PRIu64 " and %" PRIu64 ": not counted\n",
			row->a->count, row->b->count);
	}
	if (n > MAX_UNTOLD)
		fprintf(stderr, "%zu more names rose, of which there are too few to tell\n",
			n - MAX_UNTOLD);
}

/* A program that ended at its start is no faster. */
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

static int fail_above(const struct diff *diff, const struct digest *a, double limit)
{
	int code = check_compared(diff, a);
	int risen = say_risen(diff, limit);

	say_untold(diff, limit);
	return code ? code : risen;
}

static int write_diff(
	const struct diff *diff, const struct side *a, const struct side *b, struct settings *s)
{
	s->diff.path_a = a->path;
	s->diff.path_b = b->path;
	if (s->is_json)
		return diff_write_json(diff, a->digest, b->digest, &s->diff, stdout);
	return diff_write_text(diff, a->digest, b->digest, &s->diff, stdout);
}

/* An exit code, or a negative errno with |d|, which is empty where all has been said. */
static int compare(struct side *a, struct side *b, struct settings *s, struct diag *d)
{
	struct diff diff;
	int r = diff_make(a->digest, b->digest, &diff);

	if (r == 0)
		r = write_diff(&diff, a, b, s);
	if (r == 0)
		r = s->diff.limit < 0 ? EXIT_DONE : fail_above(&diff, a->digest, s->diff.limit);
	diff_deinit(&diff);
	if (r < 0 && ferror(stdout))
		return streams_fail(r);
	return r < 0 ? diag_set(d, r, "no comparison: %s", errno_words(r)) : r;
}

static int diff_places(char **places, struct settings *s)
{
	struct side a = {.view = NULL};
	struct side b = {.view = NULL};
	struct diag d = DIAG_INIT;
	int r = read_side(&a, places[0], s, &d);

	if (r == 0)
		r = read_side(&b, places[1], s, &d);
	if (r == 0)
		r = compare(&a, &b, s, &d);
	if (d.text[0])
		fprintf(stderr, "%s\n", d.text);
	side_deinit(&b);
	side_deinit(&a);
	return r < 0 ? EXIT_FAILED : r;
}

static int parse_and_diff(const struct command *self, int argc, char **argv, struct settings *s)
{
	struct diag d = DIAG_INIT;
	int n_left;
	int r = arguments_parse(self, argc, argv, s, &n_left, &d);

	if (r == ARGUMENTS_HANDLED)
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

static int run(const struct command *self, int argc, char **argv)
{
	struct settings s = {.diff.limit = -1, .view = VIEW_SETTINGS_INIT};
	int code = parse_and_diff(self, argc, argv, &s);

	view_settings_deinit(&s.view);
	return code;
}

const struct command command_diff = {
	.name = "diff",
	.usage = "[options] A B",
	.summary = "what changed between two traces",
	.options = options,
	.n_options = sizeof options / sizeof options[0],
	.operands = ":files",
	.run = run,
};
