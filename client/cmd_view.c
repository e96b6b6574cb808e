/* SPDX-License-Identifier: Apache-2.0 */
/* proftap view: shows traces in the Perfetto UI, or in XProf. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/grow.h"
#include "client/command/command.h"
#include "client/process/exit.h"
#include "client/process/terminal.h"
#include "client/view/open_view.h"
#include "client/view/perfetto_view.h"

/* --- XProf --------------------------------------------------------------------------------- */

/* The runs' directory below the log directory. */
#define RUNS "/plugins/profile"
/* XProf's default port. */
#define XPROF_PORT 8791

static bool is_existing_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Finds the last RUNS in |path|, because a log directory may lie in another one. */
static char *find_runs(char *path)
{
	char *found = NULL;

	for (char *at = path; (at = strstr(at, RUNS)); at++)
		if (at[sizeof RUNS - 1] == '/' || at[sizeof RUNS - 1] == '\0')
			found = at;
	return found;
}

/* Cuts |path|, which is absolute, to the log directory. */
static int find_log_dir(const char *place, char *path, struct diag *d)
{
	char *runs = find_runs(path);

	if (runs)
		*runs = '\0';
	else if (!is_existing_dir(path))
		return diag_set(d, -ENOTDIR,
			"%.300s: not in a log directory, and XProf shows only runs in one: the "
			"DIR of DIR" RUNS "/RUN/FILE",
			place);
	return 0;
}

/* Returns true if execvp() will find xprof in the PATH. */
static bool has_xprof(void)
{
	const char *at = getenv("PATH");
	char path[PATH_MAX];

	for (; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
		int n = (int)strcspn(at, ":");

		if (snprintf(path, sizeof path, "%.*s/xprof", n ? n : 1, n ? at : ".") <
				(int)sizeof path &&
			access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/*
 * XProf has no option for the address: it listens on [::], or on 0.0.0.0 without IPv6, and has no
 * passwords.
 */
static void say_interfaces(uint16_t port)
{
	fprintf(stderr,
		"xprof: listens on all interfaces of this machine, port %u, and shows the runs to "
		"anyone; proftap view "
		"without --xprof listens on 127.0.0.1 alone\n",
		port ? port : XPROF_PORT);
}

static int execute_xprof(const char *log_dir, uint16_t port, struct diag *d)
{
	char port_text[8];
	char *const words[] = {"xprof", "--logdir", (char *)(*log_dir ? log_dir : "/"),
		port ? "--port" : NULL, port_text, NULL};

	snprintf(port_text, sizeof port_text, "%u", port);
	if (has_xprof())
		say_interfaces(port);
	streams_give_back();
	execvp(words[0], words);
	if (errno == ENOENT)
		return diag_set(d, -ENOENT,
			"xprof: not found in PATH; install it with pip install xprof, or see the "
			"trace in the Perfetto UI: "
			"proftap view without --xprof");
	return diag_set(d, -errno, "xprof: cannot be run: %s", errno_words(errno));
}

/*
 * Replaces this program by XProf on the log directory of |place|, which is a log directory, run or
 * file. |port| 0: XProf's default. Returns only on failure, a negative errno with |d|.
 */
static int xprof_start(const char *place, uint16_t port, struct diag *d)
{
	_cleanup_free_ char *path = realpath(place, NULL);
	int r;

	if (!path)
		return diag_set(d, -errno, "%.300s: %s", place, errno_words(errno));
	r = find_log_dir(place, path, d);
	return r ? r : execute_xprof(path, port, d);
}

struct view_command_settings {
	struct perfetto_view perfetto;
	struct view_settings view;
	struct processor_option *given; /* the options of |view| that the user gave */
	size_t n_given;
	size_t n_given_allocated;
	const char *unfit; /* a given option that XProf does not have; NULL: none */
	int64_t port; /* 0: not given */
	bool is_xprof;
};

#define AT(member) offsetof(struct view_command_settings, member)

static const struct argument_option options[] = {
	{"port", 'p', ARGUMENT_INT, AT(port), 1, UINT16_MAX, NULL, "PORT",
		"port on 127.0.0.1; default 9001, from which the Perfetto UI fetches"},
	{"keep", 0, ARGUMENT_FLAG, AT(perfetto.keeps), 0, 0, NULL, NULL,
		"serve until Ctrl-C; default: until the trace was fetched once"},
	{"xprof", 0, ARGUMENT_FLAG, AT(is_xprof), 0, 0, NULL, NULL,
		"start XProf on the log directory instead"},
	{"max_events", 0, ARGUMENT_INT, AT(perfetto.max_events), 1, INT64_MAX, NULL, "N",
		"refuse traces with more events, which a browser cannot show; default 20000000"},
	{"json", 0, ARGUMENT_FLAG, AT(perfetto.is_json), 0, 0, NULL, NULL,
		"print one JSON object on standard output instead of the link"},
	OPEN_VIEW_OPTIONS(struct view_command_settings, view),
	OPEN_VIEW_GROUP_OPTIONS(struct view_command_settings, view),
};

static const char *const aligns[] = {"epoch", "start"};

static const struct command_words values[] = {
	{"align", aligns, sizeof aligns / sizeof aligns[0], NULL, NULL},
	{NULL, NULL, 0, NULL, NULL},
};

/*
 * Keeps the options of |view| for the command line of trace_processor, and notes one that
 * XProf does not have.
 */
static int note_option(
	void *settings, const struct argument_option *o, const char *value, struct diag *d)
{
	struct view_command_settings *s = settings;

	if (o->offset != AT(port) && o->offset != AT(is_xprof))
		s->unfit = o->name;
	if (o->offset - AT(view) >= sizeof s->view)
		return 0;
	if (grow(&s->given, &s->n_given_allocated, s->n_given + 1))
		return diag_set(d, -ENOMEM, "--%s: out of memory", o->name);
	s->given[s->n_given++] = (struct processor_option){o->name, value};
	return 0;
}

static int check_view(const struct view_command_settings *s, int n_places, struct diag *d)
{
	if (n_places == 0)
		return diag_set(d, -EINVAL, "proftap view: no run or file given");
	if (s->is_xprof && n_places > 1)
		return diag_set(d, -EINVAL, "--xprof: takes one log directory, run or file");
	if (s->is_xprof && s->unfit)
		return diag_set(d, -EINVAL,
			"--xprof excludes --%s: XProf shows all of the log directory", s->unfit);
	return 0;
}

static int show_view(struct view_command_settings *s, char **places, size_t n, struct diag *d)
{
	_cleanup_(view_freep) struct view *view = NULL;
	_cleanup_free_ char *path = NULL;

	if (s->is_xprof) {
		xprof_start(places[0], (uint16_t)s->port, d);
		return EXIT_FAILED;
	}
	if (s->port)
		s->perfetto.port = s->port;
	if (open_view(places, n, &s->view, &view, &path, d))
		return EXIT_FAILED;
	return perfetto_view_run(&s->perfetto, view, path, d);
}

static void say_failure(
	const struct view_command_settings *s, char *const *places, size_t n, const struct diag *d)
{
	const struct processor_command c = {s->given, s->n_given, places, n};

	if (d->text[0])
		fprintf(stderr, "%s\n", d->text);
	if (d->code == -EFBIG)
		processor_command_write(&c, stderr);
}

static int parse_and_show(
	const struct command *self, int argc, char **argv, struct view_command_settings *s)
{
	struct diag d = DIAG_INIT;
	int code;
	int n_left;
	int r = command_parse(self, argc, argv, s, &n_left, &d);

	if (r == COMMAND_HANDLED)
		return EXIT_DONE;
	if (r == 0)
		r = check_view(s, n_left, &d);
	if (r < 0)
		return command_fail_usage(self, &d);
	code = show_view(s, argv, (size_t)n_left, &d);
	if (code == EXIT_FAILED)
		say_failure(s, argv, (size_t)n_left, &d);
	return code;
}

static int run_view(const struct command *self, int argc, char **argv)
{
	struct view_command_settings s = {
		.perfetto = PERFETTO_VIEW_INIT, .view = VIEW_SETTINGS_INIT};
	int code = parse_and_show(self, argc, argv, &s);

	free(s.given);
	view_settings_deinit(&s.view);
	return code;
}

const struct command command_view = {
	.name = "view",
	.usage = "[options] LOG_DIR|RUN|FILE ...",
	.summary = "show a trace in the Perfetto UI, or in XProf",
	.arguments.options = options,
	.arguments.n_options = sizeof options / sizeof options[0],
	.values = values,
	.operands = ":files",
	.arguments.note = note_option,
	.run = run_view,
};
