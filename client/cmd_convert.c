/* SPDX-License-Identifier: Apache-2.0 */
/* proftap convert: writes traces in the formats of other viewers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/command/command.h"
#include "client/process/exit.h"
#include "client/view/conversion.h"
#include "client/view/inlines.h"
#include "client/view/open_view.h"
#include "trace/codec/codec.h"
#include "trace/read/selection.h"
#include "trace/read/view.h"

/* --- one file for each device -------------------------------------------------------------- */

/* Checks that the conversion can write several files. 0, or -EINVAL with |d|. */
static int device_files_check(const struct trace_conversion *c, struct diag *d)
{
	struct trace_conversion one = *c;

	if (c->output && strcmp(c->output, "-") == 0)
		return diag_set(d, -EINVAL,
			"--split: several files cannot go to standard output; name a directory "
			"with -o");
	if (!c->codec)
		return diag_set(d, -EINVAL, "--split: no format given; use -t FORMAT");
	one.output = NULL;
	return conversion_check_compression(&one, d);
}

static int make_output_dir(const char *path, struct diag *d)
{
	struct stat st;
	int error = mkdir(path, 0777) ? errno : 0;

	if (error && stat(path, &st) == 0)
		error = S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
	if (!error)
		return 0;
	return diag_set(d, -error, "%.300s: cannot make the directory: %s; choose another with -o",
		path, errno_words(error));
}

/* Returns the trace's directory, malloc'ed. For a run of several files, this is |path|. */
static char *copy_trace_dir(const struct view *view, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (view->n_archives > 1)
		return strdup(path);
	return slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
}

struct device_files {
	const struct trace_conversion *conversion;
	const struct view *view;
	struct selection *selection;
	const char *path; /* the trace's path */
	const char *directory;
};

static int write_device_file(
	const struct device_files *f, int32_t device, const char *name, struct diag *d)
{
	struct trace_conversion one = *f->conversion;
	_cleanup_free_ char *output = NULL;

	if (asprintf(&output, "%s/%s%s", f->directory, name,
		    codec_get_suffix(one.codec, &one.options)) < 0) {
		output = NULL;
		return diag_set(d, -ENOMEM, "%.300s: out of memory", f->path);
	}
	one.output = output;
	f->selection->device = device;
	return conversion_run(&one, f->view, f->path, d);
}

/*
 * Returns true if --pid and --thread select a track of the device. The result of other filters is
 * only known once the trace is read.
 */
static bool has_any_track(const struct device_files *f, int32_t device)
{
	f->selection->device = device;
	for (size_t i = 0; i < f->view->n_tracks; i++)
		if (selection_has_track(f->view, &f->view->tracks[i]))
			return true;
	return false;
}

static int write_device_files(const struct device_files *f, struct diag *d)
{
	int r = write_device_file(f, SELECTION_HOSTS, "system_profile", d);
	char name[64];

	for (size_t i = 0; i < f->view->n_origins && r == 0; i++) {
		const struct view_process *p = &f->view->origins[i];

		if (!p->is_device || !has_any_track(f, p->device))
			continue;
		snprintf(name, sizeof name, "device_profile_%d", (int)p->device);
		r = write_device_file(f, p->device, name, d);
	}
	return r;
}

/*
 * Writes system_profile and device_profile_ID, with the format's suffix, into the directory
 * c->output, which is made if it is missing; without it, beside the trace at |path|, or into |path|
 * if that is the directory of several traces. Reports each file as conversion_run() does.
 * |selection| is the view's; its device is changed. 0, or a negative errno with |d|; files that
 * were written before an error stay.
 */
static int device_files_write(const struct trace_conversion *c, const struct view *view,
	struct selection *selection, const char *path, struct diag *d)
{
	_cleanup_free_ char *directory = c->output ? strdup(c->output) : copy_trace_dir(view, path);
	struct device_files f = {c, view, selection, path, directory};
	int r = directory ? 0 : diag_set(d, -ENOMEM, "%.300s: out of memory", path);

	if (r == 0 && c->output)
		r = make_output_dir(directory, d);
	return r ? r : write_device_files(&f, d);
}

struct convert_settings {
	struct trace_conversion conversion;
	struct view_settings view;
	bool splits_devices;
	bool has_inlines;
};

static const char *const splits[] = {"device"};

static int set_format(void *settings, const char *value, struct diag *d)
{
	return conversion_set_format(&((struct convert_settings *)settings)->conversion, value, d);
}

static int set_compression(void *settings, const char *value, struct diag *d)
{
	return conversion_set_compression(
		&((struct convert_settings *)settings)->conversion, value, d);
}

static int set_split(void *settings, const char *value, struct diag *d)
{
	if (strcmp(value, splits[0]) != 0)
		return diag_set(
			d, -EINVAL, "--split: bad value \"%.64s\": must be %s", value, splits[0]);
	((struct convert_settings *)settings)->splits_devices = true;
	return 0;
}

#define AT(member) offsetof(struct convert_settings, member)

static const struct argument_option options[] = {
	{"format", 't', ARGUMENT_CALL, 0, 0, 0, set_format, "FORMAT",
		"output format (see below); default: by the suffix of FILE"},
	{"output", 'o', ARGUMENT_TEXT, AT(conversion.output), 0, 0, NULL, "FILE",
		"output file; -: standard output; default: beside the trace, under its name"},
	{"compression", 0, ARGUMENT_CALL, 0, 0, 0, set_compression, "LEVEL|none",
		"level of formats that are compressed: 1 (quick) to 9 (small), or none; default 6"},
	{"jobs", 'j', ARGUMENT_INT, AT(conversion.options.n_threads), 1, 1024, NULL, "N",
		"compress with at most N threads; default: the number of processors"},
	{"json", 0, ARGUMENT_FLAG, AT(conversion.is_json), 0, 0, NULL, NULL,
		"print one JSON object on standard output instead of text"},
	{"split", 0, ARGUMENT_CALL, 0, 0, 0, set_split, "device",
		"write a file for the programs and one for each device; FILE is a directory then"},
	{"inlines", 0, ARGUMENT_FLAG, AT(has_inlines), 0, 0, NULL, NULL,
		"add inlined functions and lines of the source to samples, from the debug "
		"information on this machine"},
	OPEN_VIEW_OPTIONS(struct convert_settings, view),
	OPEN_VIEW_GROUP_OPTIONS(struct convert_settings, view),
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

static int convert_traces(struct convert_settings *s, char **places, size_t n, struct diag *d)
{
	_cleanup_(view_freep) struct view *view = NULL;
	_cleanup_free_ char *path = NULL;
	int r;

	if (s->splits_devices)
		s->view.selection.device = SELECTION_HOSTS;
	r = open_view(places, n, &s->view, &view, &path, d);
	if (r == 0 && s->has_inlines)
		r = inlines_add(view, d);
	if (r == 0 && s->splits_devices)
		return device_files_write(&s->conversion, view, &s->view.selection, path, d);
	return r ? r : conversion_run(&s->conversion, view, path, d);
}

static int parse_and_convert(
	const struct command *self, int argc, char **argv, struct convert_settings *s)
{
	struct diag d = DIAG_INIT;
	int n_left;
	int r = command_parse(self, argc, argv, s, &n_left, &d);

	if (r == COMMAND_HANDLED)
		return EXIT_DONE;
	if (r == 0 && n_left == 0)
		r = diag_set(&d, -EINVAL, "proftap convert: no run or file given");
	if (r == 0 && s->splits_devices)
		r = device_files_check(&s->conversion, &d);
	else if (r == 0)
		r = conversion_check(&s->conversion, &d);
	if (r < 0)
		return command_fail_usage(self, &d);
	if (convert_traces(s, argv, (size_t)n_left, &d) == 0)
		return EXIT_DONE;
	fprintf(stderr, "%s\n", d.text);
	return EXIT_FAILED;
}

static int run_convert(const struct command *self, int argc, char **argv)
{
	struct convert_settings s = {.conversion = CONVERSION_INIT, .view = VIEW_SETTINGS_INIT};
	int code = parse_and_convert(self, argc, argv, &s);

	view_settings_deinit(&s.view);
	return code;
}

const struct command command_convert = {
	.name = "convert",
	.usage = "[options] LOG_DIR|RUN|FILE ...",
	.summary = "convert a trace into another viewer's format",
	.arguments.options = options,
	.arguments.n_options = sizeof options / sizeof options[0],
	.values = values,
	.operands = ":files",
	.print_more_help = conversion_print_formats,
	.run = run_convert,
};
