/* SPDX-License-Identifier: Apache-2.0 */
/* proftap capture: records running targets for a number of milliseconds. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/local_path.h"
#include "client/capture/capture.h"
#include "client/capture/capture_settings.h"
#include "client/capture/host_targets.h"
#include "client/capture/part_files.h"
#include "client/capture/retry.h"
#include "client/command/command.h"
#include "client/connect/remote_list.h"
#include "client/connect/tunnel.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"
#include "client/process/log_dir.h"
#include "client/process/terminal.h"
#include "client/target/locate.h"
#include "client/view/conversion.h"
#include "client/view/open_view.h"
#include "client/view/perfetto_view.h"

#define AT(member) offsetof(struct capture_settings, member)

static const struct argument_option options[] = {
	{"log_dir", 0, ARGUMENT_TEXT, AT(capture.log_dir), 0, 0, NULL, "DIR",
		"directory of the output; default $PROFTAP_LOG_DIR, else a new temporary "
		"directory"},
	{"host", 0, ARGUMENT_TEXT, AT(host), 0, 0, NULL, "HOST",
		"host of a bare PORT; default localhost"},
	{"option", 'o', ARGUMENT_CALL, 0, 0, 0, capture_settings_set_option, "KEY=VALUE",
		"set an option of the capture, see below"},
	{"delay", 0, ARGUMENT_INT, AT(delay_ms), 0, CAPTURE_MAX_MS, NULL, "MS",
		"wait before the recording starts"},
	{"run", 0, ARGUMENT_TEXT, AT(capture.run), 0, 0, NULL, "NAME",
		"add to this run; default: a new one named after the time"},
	{"host_name", 0, ARGUMENT_TEXT, AT(host_name), 0, 0, NULL, "NAME",
		"name of the file, before .xplane.pb; default HOSTNAME_PORT; NAME,… for many "
		"targets"},
	{"targets", 0, ARGUMENT_TEXT, AT(targets_file), 0, 0, NULL, "FILE",
		"file with more targets, one a line; -: standard input"},
	{"target", 0, ARGUMENT_TEXT, AT(target), 0, 0, NULL, "PID|NAME|PATH|all[,…]",
		"programs of a host daemon"},
	{"next", 0, ARGUMENT_TEXT, AT(next), 0, 0, NULL, "PATTERN",
		"record the next program that starts with a matching name; --wait=SECONDS limits "
		"the wait"},
	{"all", 0, ARGUMENT_FLAG, AT(has_all), 0, 0, NULL, NULL,
		"if several programs have the NAME, record all of them"},
	{"newest", 0, ARGUMENT_FLAG, AT(has_newest), 0, 0, NULL, NULL,
		"if several programs have the NAME, record the one started last"},
	{"ssh", 0, ARGUMENT_TEXT, AT(ssh), 0, 0, NULL, "[USER@]DEST",
		"connect by an ssh tunnel; a PORT is one of that machine"},
	{"attempts", 0, ARGUMENT_INT, AT(retry.attempts), 1, 1000000, NULL, "N",
		"number of tries if the target is busy, absent or idle; default 1"},
	{"wait", 0, ARGUMENT_MAYBE_INT, AT(retry.wait_s), 1, RETRY_MAX_WAIT_S, NULL, "[=SECONDS]",
		"wait while the target is busy or absent; without SECONDS, without a limit"},
	{"timeout", 0, ARGUMENT_INT, AT(capture.timeout_ms), 1, CAPTURE_MAX_MS, NULL, "MS",
		"limit of the whole capture; default duration + delay + 60000 without new bytes"},
	{"max_bytes", 0, ARGUMENT_INT, AT(max_bytes), OPTION_MIN_CAPTURE_BYTES, INT64_MAX, NULL,
		"N", "memory that the capture may take at the target (ptap_max_capture_bytes)"},
	{"split", 0, ARGUMENT_MAYBE_INT, AT(capture.split_bytes), PART_FILES_MIN_BYTES,
		PART_FILES_MAX_BYTES, NULL, "[=BYTES]",
		"split files larger than BYTES by time; default: those that XProf cannot read"},
	{"server_writes", 0, ARGUMENT_FLAG, AT(capture.server_writes), 0, 0, NULL, NULL,
		"let JAX's and TensorFlow's servers write the file, on their own disk, under "
		"--log_dir"},
	{"json", 0, ARGUMENT_FLAG, AT(capture.is_json), 0, 0, NULL, NULL,
		"print one JSON object on standard output instead of text"},
	{"format", 0, ARGUMENT_CALL, 0, 0, 0, capture_settings_set_format, "LIST",
		"write these formats, too, as in perfetto,pprof"},
	{"perfetto_link", 0, ARGUMENT_FLAG, AT(has_link), 0, 0, NULL, NULL,
		"serve the trace for the Perfetto UI afterwards, as proftap view does, and print "
		"the link"},
	{"perfetto_port", 0, ARGUMENT_INT, AT(perfetto_port), 1, UINT16_MAX, NULL, "PORT",
		"port of --perfetto_link; default 9001"},
	{"no_perfetto_link", 0, ARGUMENT_FLAG, AT(no_perfetto_link), 0, 0, NULL, NULL,
		"accepted for compatibility; without --perfetto_link there is no link anyway"},
};

static const struct command_words values[] = {
	{"format", NULL, 0, formats_get_name, NULL},
	{NULL, NULL, 0, NULL, NULL},
};

/* Captures; the tunnel, if any, is open already. */
static int capture_there(struct capture_settings *s, struct diag *d)
{
	int code = EXIT_DONE;

	if (s->has_all && locate_all(&s->targets, &s->capture.n_targets, d))
		return d->code == -EINVAL ? EXIT_USAGE : EXIT_NOBODY;
	if (s->target)
		code = host_targets_expand(s->target, &s->targets, &s->capture.n_targets, d);
	if (code != EXIT_DONE)
		return code;
	s->capture.targets = s->targets;
	if ((s->target || s->has_all) && capture_settings_name_hosts(s, d))
		return EXIT_USAGE;
	return retry_capture(&s->capture, &s->retry, d);
}

static int capture_through(struct capture_settings *s, struct diag *d)
{
	struct tunnel tunnel;
	int code = EXIT_DONE;

	if (s->has_all)
		code = remote_list_expand(s->ssh, &s->targets, &s->capture.n_targets, d);
	if (code != EXIT_DONE)
		return code;
	code = tunnel_open(&tunnel, s->ssh, s->targets, s->capture.n_targets, d);
	if (code == EXIT_DONE)
		code = capture_there(s, d);
	tunnel_close(&tunnel);
	return code;
}

static int await_next(struct capture_settings *s, struct diag *d)
{
	bool has_limit = s->retry.wait_s && s->retry.wait_s != RETRY_MAX_WAIT_S;
	int r = locate_next(s->next, has_limit ? s->retry.wait_s * 1000 : -1, &s->targets[0], d);

	if (r == 0)
		return EXIT_DONE;
	capture_failure_write(&s->capture, EXIT_TIMEOUT, d);
	return r == -EINTR ? EXIT_INTERRUPTED : r == -ETIMEDOUT ? EXIT_TIMEOUT : EXIT_FAILED;
}

/*
 * A URL is only for servers that write the trace themselves. If a server sends its trace instead,
 * the trace goes to a fresh directory.
 */
static int choose_log_dir(struct capture_settings *s, struct diag *d)
{
	struct client_capture *c = &s->capture;
	struct diag why = DIAG_INIT;
	int r;

	if (c->server_writes && local_path_check("--log_dir", c->log_dir, NULL))
		c->url = c->log_dir;
	r = log_dir_choose(&s->log_dir, c->url ? "" : c->log_dir, &why);
	c->log_dir = s->log_dir.path;
	if (r == -EINVAL)
		return diag_set(d, r,
			"%s; with --server_writes the target's server writes there if it can, "
			"as JAX's can to gs://",
			why.text);
	return r ? diag_set(d, r, "%s", why.text) : 0;
}

static int run_capture_once(struct capture_settings *s, struct diag *d)
{
	int code = EXIT_DONE;

	interrupt_start();
	if (s->next)
		code = await_next(s, d);
	if (code != EXIT_DONE)
		return code;
	code = EXIT_FAILED;
	if (choose_log_dir(s, d) == 0)
		code = s->ssh ? capture_through(s, d) : capture_there(s, d);
	if (code != EXIT_DONE && code != EXIT_PARTIAL && !s->capture.is_reported)
		capture_failure_write(&s->capture, code, d);
	/* This removes the directory only if it is empty. */
	log_dir_discard(&s->log_dir);
	return code;
}

static int show_traces(const struct capture_settings *s, const struct names *files, struct diag *d)
{
	const struct perfetto_view view = {
		.port = s->perfetto_port,
		.port_option = "--perfetto_port",
		.max_events = PERFETTO_VIEW_MAX_EVENTS,
		.out = stderr,
		.n_interrupts = s->capture.n_interrupts,
	};
	const struct view_settings all = VIEW_SETTINGS_INIT;
	_cleanup_(view_freep) struct view *v = NULL;
	_cleanup_free_ char *path = NULL;
	int r = open_view(files->texts, files->n_texts, &all, &v, &path, d);

	if (r)
		return EXIT_FAILED;
	v->stop = (struct view_stop){interrupt_came_since, &view.n_interrupts};
	return perfetto_view_run(&view, v, path, d);
}

static void say_no_link(const struct names *files, const struct diag *d)
{
	const struct processor_command c = {.places = files->texts, .n_places = files->n_texts};

	fprintf(stderr, "  warning: no link: %s\n", d->text);
	if (d->code == -EFBIG)
		processor_command_write(&c, stderr);
}

/* The traces are published, so a failure to show them does not change the exit code. */
static int capture_and_show(struct capture_settings *s, struct diag *d)
{
	struct names files = {0};
	int code;

	s->capture.files = &files;
	code = run_capture_once(s, d);
	if (s->has_link && files.n_texts && !interrupt_came_since(&s->capture.n_interrupts) &&
		streams_finish() == 0 && show_traces(s, &files, d) == EXIT_FAILED)
		say_no_link(&files, d);
	names_deinit(&files);
	return code;
}

static int run_capture(const struct command *self, int argc, char **argv)
{
	struct capture_settings s;
	struct diag d = DIAG_INIT;
	int code = EXIT_DONE;
	int n_left;
	int r;

	capture_settings_init(&s);
	r = command_parse(self, argc, argv, &s, &n_left, &d);
	if (r == 0)
		r = capture_settings_finish(&s, n_left, argv, &d);
	if (r < 0)
		code = command_fail_usage(self, &d);
	else if (r == 0)
		code = capture_and_show(&s, &d);
	capture_settings_deinit(&s);
	return code;
}

const struct command command_capture = {
	.name = "capture",
	.usage = "[options] PORT|HOST:PORT|unix:PATH|PID|NAME|PATH[,…] MS",
	.summary = "record MS milliseconds of a running target, or of many at once",
	.arguments.options = options,
	.arguments.n_options = sizeof options / sizeof options[0],
	.values = values,
	.operands = ":targets",
	.arguments.set_profile_option = capture_settings_set_option,
	.arguments.profile_use = OPTION_OF_CAPTURE,
	.run = run_capture,
};
