/* SPDX-License-Identifier: Apache-2.0 */
/* proftap flame: writes a flame graph into an HTML file that opens without a network. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/command/command.h"
#include "client/process/exit.h"
#include "client/view/conversion.h"
#include "client/view/open_view.h"
#include "trace/codec/flame.h"
#include "trace/read/view.h"

struct flame_settings {
	struct trace_conversion conversion;
	struct view_settings view;
	bool is_data;
};

#define AT(member) offsetof(struct flame_settings, member)

static const struct argument_option options[] = {
	{"output", 'o', ARGUMENT_TEXT, AT(conversion.output), 0, 0, NULL, "FILE",
		"output file; -: standard output; default: beside the trace, under its name"},
	{"json", 0, ARGUMENT_FLAG, AT(is_data), 0, 0, NULL, NULL,
		"write the graph's data as JSON, by default to standard output"},
	OPEN_VIEW_OPTIONS(struct flame_settings, view),
};

static const char *const aligns[] = {"epoch", "start"};

static const struct command_words values[] = {
	{"align", aligns, sizeof aligns / sizeof aligns[0], NULL, NULL},
	{NULL, NULL, 0, NULL, NULL},
};

static int check_settings(struct flame_settings *s, int n_places, struct diag *d)
{
	if (n_places == 0)
		return diag_set(d, -EINVAL, "proftap flame: no run or file given");
	s->conversion.codec = s->is_data ? &codec_flame_data : &codec_flame;
	if (s->is_data && !s->conversion.output)
		s->conversion.output = "-";
	return conversion_check(&s->conversion, d);
}

static int draw_traces(const struct flame_settings *s, char **places, int n, struct diag *d)
{
	_cleanup_(view_freep) struct view *view = NULL;
	_cleanup_free_ char *path = NULL;
	int r = open_view(places, (size_t)n, &s->view, &view, &path, d);

	if (r == 0 && view->n_samples == 0)
		r = view_note(view,
			"the trace has no CPU samples, so the graph shows spans; its warnings tell "
			"why, unless it was recorded with ptap_sample_hz=0");
	if (r)
		return r;
	view->clips_spans = true;
	return conversion_run(&s->conversion, view, path, d);
}

static int parse_and_draw(
	const struct command *self, int argc, char **argv, struct flame_settings *s)
{
	struct diag d = DIAG_INIT;
	int n_left;
	int r = command_parse(self, argc, argv, s, &n_left, &d);

	if (r == COMMAND_HANDLED)
		return EXIT_DONE;
	if (r == 0)
		r = check_settings(s, n_left, &d);
	if (r < 0)
		return command_fail_usage(self, &d);
	if (draw_traces(s, argv, n_left, &d) == 0)
		return EXIT_DONE;
	fprintf(stderr, "%s\n", d.text);
	return EXIT_FAILED;
}

static int run_flame(const struct command *self, int argc, char **argv)
{
	struct flame_settings s = {.conversion = CONVERSION_INIT, .view = VIEW_SETTINGS_INIT};
	int code = parse_and_draw(self, argc, argv, &s);

	view_settings_deinit(&s.view);
	return code;
}

const struct command command_flame = {
	.name = "flame",
	.usage = "[options] LOG_DIR|RUN|FILE ...",
	.summary = "draw a flame graph of functions and spans into an HTML file",
	.arguments.options = options,
	.arguments.n_options = sizeof options / sizeof options[0],
	.values = values,
	.operands = ":files",
	.run = run_flame,
};
