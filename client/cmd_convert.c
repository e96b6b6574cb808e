/* SPDX-License-Identifier: Apache-2.0 */
/* proftap convert: traces in the formats of other viewers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/command/arguments.h"
#include "client/command/command.h"
#include "client/process/exit.h"
#include "client/view/conversion.h"
#include "client/view/device_files.h"
#include "client/view/open_view.h"
#include "trace/codec/codec.h"

struct settings {
	struct conversion conversion;
	struct view_settings view;
	bool splits_devices;
};

static const char *const splits[] = {"device"};

static int set_format(void *settings, const char *value, struct diag *d)
{
	return conversion_set_format(&((struct settings *)settings)->conversion, value, d);
}

static int set_compression(void *settings, const char *value, struct diag *d)
{
	return conversion_set_compression(&((struct settings *)settings)->conversion, value, d);
}

static int set_split(void *settings, const char *value, struct diag *d)
{
	if (strcmp(value, splits[0]) != 0)
		return diag_set(
			d, -EINVAL, "--split: bad value \"%.64s\": must be %s", value, splits[0]);
	((struct settings *)settings)->splits_devices = true;
	return 0;
}

#define AT(member) offsetof(struct settings, member)

static const struct command_option options[] = {
	{"format", 't', COMMAND_OPTION_CALL, 0, 0, 0, set_format, "FORMAT",
		"the format (see below); default: that of the end of FILE"},
	{"output", 'o', COMMAND_OPTION_TEXT, AT(conversion.output), 0, 0, NULL, "FILE",
		"the file; -: standard output; default: beside the trace, under its name"},
	{"compression", 0, COMMAND_OPTION_CALL, 0, 0, 0, set_compression, "LEVEL|none",
		"of what is compressed: 1 (quick) to 9 (small), or none; default 6"},
	{"jobs", 'j', COMMAND_OPTION_INT, AT(conversion.options.n_threads), 1, 1024, NULL, "N",
		"compress with at most N threads; default: the number of processors"},
	{"json", 0, COMMAND_OPTION_FLAG, AT(conversion.is_json), 0, 0, NULL, NULL,
		"one JSON object on standard output instead of text"},
	{"split", 0, COMMAND_OPTION_CALL, 0, 0, 0, set_split, "device",
		"a file for the programs and one for each device; FILE is a directory then"},
	OPEN_VIEW_OPTIONS(struct settings, view),
	OPEN_VIEW_GROUP_OPTIONS(struct settings, view),
};

static const char *const aligns[] = {"epoch", "start"};
static const char *const levels[] = {"none", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

static const struct command_words values[] = {
	{"format", NULL, 0, conversion_get_format, NULL},
	{"align", aligns, sizeof aligns / sizeof aligns[0], NULL, NULL},
	{"compression", levels, sizeof levels / sizeof levels[0], NULL, NULL},
	{"split", splits, sizeof splits / sizeof splits[0], NULL, NULL},
	{NULL, NULL, 0, NULL, NULL},
};

static int convert(struct settings *s, char **places, size_t n, struct diag *d)
{
	_cleanup_(view_freep) struct view *view = NULL;
	_cleanup_free_ char *path = NULL;
	int r;

	if (s->splits_devices)
		s->view.selection.device = SELECTION_HOSTS;
	r = open_view(places, n, &s->view, &view, &path, d);
	if (r == 0 && s->splits_devices)
		return device_files_write(&s->conversion, view, &s->view.selection, path, d);
	return r ? r : conversion_run(&s->conversion, view, path, d);
}

static int parse_and_convert(const struct command *self, int argc, char **argv, struct settings *s)
{
	struct diag d = DIAG_INIT;
	int n_left;
	int r = arguments_parse(self, argc, argv, s, &n_left, &d);

	if (r == ARGUMENTS_HANDLED)
		return EXIT_DONE;
	if (r == 0 && n_left == 0)
		r = diag_set(
			&d, -EINVAL, "proftap convert: at least one run or file must be given");
	if (r == 0 && s->splits_devices)
		r = device_files_check(&s->conversion, &d);
	else if (r == 0)
		r = conversion_check(&s->conversion, &d);
	if (r < 0)
		return command_fail_usage(self, &d);
	if (convert(s, argv, (size_t)n_left, &d) == 0)
		return EXIT_DONE;
	fprintf(stderr, "%s\n", d.text);
	return EXIT_FAILED;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct settings s = {.conversion = CONVERSION_INIT, .view = VIEW_SETTINGS_INIT};
	int code = parse_and_convert(self, argc, argv, &s);

	view_settings_deinit(&s.view);
	return code;
}

const struct command command_convert = {
	.name = "convert",
	.usage = "[options] LOG_DIR|RUN|FILE ...",
	.summary = "a trace in another viewer's format",
	.options = options,
	.n_options = sizeof options / sizeof options[0],
	.values = values,
	.operands = ":files",
	.print_more_help = conversion_print_formats,
	.run = run,
};
