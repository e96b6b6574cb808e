/* SPDX-License-Identifier: Apache-2.0 */
/* proftap capture: the options, the log directory, and trying again. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/env.h"
#include "client/arguments.h"
#include "client/capture.h"
#include "client/clock.h"
#include "client/command.h"
#include "client/exit.h"
#include "client/interrupt.h"
#include "client/locate.h"
#include "client/log_dir.h"
#include "client/terminal.h"
#include "trace/json.h"
#include "trace/run_dir.h"

struct settings {
	struct capture capture;
	const char *host;
	int64_t attempts;
	int64_t delay_ms; /* -1: not given */
	int64_t max_bytes; /* -1: not given */
	bool no_perfetto_link;
	struct log_dir log_dir;
};

#define FIRST_PAUSE_MS 500
#define LONGEST_PAUSE_MS 8000

static int set_profile_option(void *settings, const char *key_value, struct diag *d)
{
	struct settings *s = settings;
	int r = profile_options_parse(&s->capture.options, key_value, d);

	/* Whether a TPU is there, the other machine knows. */
	if (r != OPTION_IGNORED || strncmp(key_value, "tpu_", 4) == 0)
		return r < 0 ? r : 0;
	if (names_intern(&s->capture.warnings, d->text, strlen(d->text)) == NAMES_NONE)
		return diag_set(d, -ENOMEM, "out of memory");
	return 0;
}

#define AT(member) offsetof(struct settings, member)

static const struct command_option options[] = {
	{"log_dir", 0, COMMAND_OPTION_TEXT, AT(capture.log_dir), 0, 0, NULL, "DIR",
		"where the file goes; default $PROFTAP_LOG_DIR, else a fresh directory"},
	{"host", 0, COMMAND_OPTION_TEXT, AT(host), 0, 0, NULL, "HOST",
		"goes with a bare PORT; default localhost"},
	{"option", 'o', COMMAND_OPTION_CALL, 0, 0, 0, set_profile_option, "KEY=VALUE",
		"an option of the capture, see below"},
	{"delay", 0, COMMAND_OPTION_INT, AT(delay_ms), 0, CAPTURE_MAX_MS, NULL, "MS",
		"wait before the recording starts"},
	{"run", 0, COMMAND_OPTION_TEXT, AT(capture.run), 0, 0, NULL, "NAME",
		"add to this run; default: a new one named after the time"},
	{"host_name", 0, COMMAND_OPTION_TEXT, AT(capture.host_name), 0, 0, NULL, "NAME",
		"of the file, before .xplane.pb; default HOSTNAME_PORT"},
	{"attempts", 0, COMMAND_OPTION_INT, AT(attempts), 1, 1000000, NULL, "N",
		"tries when the target is busy, absent or idle; default 1"},
	{"timeout", 0, COMMAND_OPTION_INT, AT(capture.timeout_ms), 1, CAPTURE_MAX_MS, NULL, "MS",
		"for the whole capture; default duration + delay + 60000"},
	{"max_bytes", 0, COMMAND_OPTION_INT, AT(max_bytes), 1, INT64_MAX, NULL, "N",
		"memory for the capture at the target (ptap_max_capture_bytes)"},
	{"json", 0, COMMAND_OPTION_FLAG, AT(capture.is_json), 0, 0, NULL, NULL,
		"one JSON object on standard output instead of text"},
	{"no_perfetto_link", 0, COMMAND_OPTION_FLAG, AT(no_perfetto_link), 0, 0, NULL, NULL,
		"accepted for the habit; there is no link"},
	{"perfetto_link", 0, COMMAND_OPTION_ANNOUNCED, 0, 0, 0, NULL, NULL,
		"links to the Perfetto UI are still to come; the summary says how to view the file"},
	{"ssh", 0, COMMAND_OPTION_ANNOUNCED, 0, 0, 0, NULL, NULL,
		"tunnels are still to come; ssh -L 9999:localhost:9999 DEST makes one"},
	{"format", 0, COMMAND_OPTION_ANNOUNCED, 0, 0, 0, NULL, NULL,
		"other formats are still to come; the file is an XSpace"},
};

/* The target and the duration. */

static int parse_duration(struct settings *s, const char *text, struct diag *d)
{
	long long ms;
	int r;

	if (s->capture.options.duration_ms)
		return diag_set(d, -EINVAL, "MS and --duration_ms exclude each other");
	r = arguments_parse_int("MS", text, 1, CAPTURE_MAX_MS, &ms, d);
	if (r == 0)
		s->capture.options.duration_ms = (uint64_t)ms;
	return r;
}

/* A number that is no port must be somebody's pid. */
static int check_pid(struct address *a, struct diag *d)
{
	if (!a->is_bare || !a->lookup[0] || locate(a, d) != -ENOENT)
		return 0;
	return diag_set(d, -EINVAL,
		"%s: bad port \"%s\": must be 1 to 65535; and no target has that pid: proftap list "
		"shows those there are",
		a->lookup, a->lookup);
}

static int parse_positions(struct settings *s, int n, char **texts, struct diag *d)
{
	bool has_duration = s->capture.options.duration_ms != 0;
	int r;

	if (n < 1)
		return diag_set(d, -EINVAL, "proftap capture: no target given");
	if (n < 2 && !has_duration)
		return diag_set(d, -EINVAL, "proftap capture: no duration given");
	if (n > 2)
		return diag_set(d, -EINVAL, "%.64s: one argument too many", texts[2]);
	if (strchr(texts[0], ','))
		return diag_set(d, -EINVAL,
			"%.200s: several targets at a time are still to come: capture one",
			texts[0]);
	r = address_parse(texts[0], s->host, &s->capture.address, d);
	if (r == 0)
		r = check_pid(&s->capture.address, d);
	if (r == 0 && n == 2)
		r = parse_duration(s, texts[1], d);
	return r;
}

static int check_times(struct settings *s, struct diag *d)
{
	struct profile_options *o = &s->capture.options;

	if (s->delay_ms >= 0)
		o->delay_ms = (uint64_t)s->delay_ms;
	if (o->duration_ms > CAPTURE_MAX_MS || o->delay_ms > CAPTURE_MAX_MS)
		return diag_set(d, -EINVAL, "durations and delays must be at most %lld ms",
			(long long)CAPTURE_MAX_MS);
	if (o->delay_ms && o->start_timestamp_ns)
		return diag_set(d, -EINVAL, "--delay and --start_timestamp_ns exclude each other");
	return 0;
}

static int set_max_bytes(struct settings *s, struct diag *d)
{
	char text[64];

	if (s->max_bytes < 0)
		return 0;
	snprintf(text, sizeof text, "ptap_max_capture_bytes=%" PRId64, s->max_bytes);
	return set_profile_option(s, text, d);
}

/* The stock ways to name the run and the host, where ours were not used. */
static int take_stock_names(struct settings *s, struct diag *d)
{
	struct capture *c = &s->capture;

	for (size_t i = 0; i < c->options.n_map && !c->host_name; i++)
		if (strncmp(c->options.map[i].key, "override_hostname", 17) == 0)
			c->host_name = c->options.map[i].text;
	if (!c->run && c->options.session_id[0])
		c->run = c->options.session_id;
	if (c->host_name && !*c->host_name)
		return diag_set(d, -EINVAL, "--host_name: the name is empty");
	return c->run ? run_dir_check_name(c->run, d) : 0;
}

static int parse(
	const struct command *self, int argc, char **argv, struct settings *s, struct diag *d)
{
	int n_left;
	int r = arguments_parse(self, argc, argv, s, &n_left, d);

	if (r == 0)
		r = parse_positions(s, n_left, argv, d);
	if (r == 0)
		r = check_times(s, d);
	if (r == 0)
		r = set_max_bytes(s, d);
	if (r == 0)
		r = take_stock_names(s, d);
	return r;
}

/* Trying. */

static bool is_worth_another(int code)
{
	return (code == EXIT_BUSY || code == EXIT_NOBODY || code == EXIT_EMPTY) &&
	       interrupt_get_count() == 0;
}

/* Returns early when interrupted. */
static void pause_ms(int64_t ms)
{
	int64_t end_ms = clock_monotonic_ms() + ms;
	int64_t left_ms = ms;

	while (left_ms > 0 && interrupt_get_count() == 0) {
		interrupt_poll(NULL, left_ms);
		left_ms = end_ms - clock_monotonic_ms();
	}
}

static int try_all(struct settings *s, struct diag *d)
{
	int64_t pause = FIRST_PAUSE_MS;

	for (int64_t attempt = 1;; attempt++) {
		int code = capture_run(&s->capture, d);

		if (attempt >= s->attempts || !is_worth_another(code))
			return code;
		fprintf(stderr, "%s (attempt %" PRId64 " of %" PRId64 ")\n", d->text, attempt,
			s->attempts);
		pause_ms(pause);
		if (interrupt_get_count() > 0) {
			diag_set(d, -EINTR, "%s: interrupted: nothing was written",
				s->capture.target);
			return EXIT_INTERRUPTED;
		}
		pause = pause * 2 < LONGEST_PAUSE_MS ? pause * 2 : LONGEST_PAUSE_MS;
	}
}

static void print_failure(const struct settings *s, int code, const struct diag *d)
{
	struct json j;

	fprintf(stderr, "%s\n", d->text);
	for (uint32_t i = 0; i < s->capture.warnings.n_texts; i++)
		terminal_write_line("warning", s->capture.warnings.texts[i], stderr);
	if (!s->capture.is_json)
		return;
	json_begin(&j, stdout);
	json_text(&j, "target", s->capture.target[0] ? s->capture.target : s->capture.address.text);
	json_text(&j, "error", d->text);
	json_int(&j, "exit", code);
	json_end(&j);
}

static int capture(struct settings *s, struct diag *d)
{
	int code = EXIT_FAILED;

	interrupt_start();
	if (log_dir_choose(&s->log_dir, s->capture.log_dir, d) == 0) {
		s->capture.log_dir = s->log_dir.path;
		code = try_all(s, d);
	}
	if (code == EXIT_DONE)
		return code;
	print_failure(s, code, d);
	log_dir_discard(&s->log_dir);
	return code;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct settings s = {
		.capture = {.timeout_ms = -1},
		.attempts = 1,
		.delay_ms = -1,
		.max_bytes = -1,
	};
	struct diag d = DIAG_INIT;
	int code = EXIT_DONE;
	int r;

	profile_options_init(&s.capture.options);
	r = parse(self, argc, argv, &s, &d);
	if (r < 0)
		code = command_fail_usage(self, &d);
	else if (r == 0)
		code = capture(&s, &d);
	profile_options_deinit(&s.capture.options);
	names_deinit(&s.capture.warnings);
	return code;
}

const struct command command_capture = {
	.name = "capture",
	.usage = "[options] PORT|HOST:PORT|unix:PATH|PID|NAME MS",
	.summary = "record MS milliseconds of a running target",
	.options = options,
	.n_options = sizeof options / sizeof options[0],
	.set_profile_option = set_profile_option,
	.run = run,
};
