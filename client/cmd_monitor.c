/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proftap monitor: shows the present activity of a target in a line that is renewed until Ctrl-C.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/capture/capture_settings.h"
#include "client/command/command.h"
#include "client/connect/exchange.h"
#include "client/connect/failure.h"
#include "client/connect/link.h"
#include "client/monitor_text.h"
#include "client/process/exit.h"
#include "client/process/terminal.h"
#include "client/session_command.h"
#include "proto/pack.h"
#include "trace/json.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

#define DEFAULT_MS 1000
#define LEVEL_DETAILED 2
#define SLACK_MS 10000

struct monitor_command {
	struct session_command command; /* the first member: watch_target() casts its address */
	int64_t count; /* the number of lines; -1: no limit */
	int64_t interval_ms;
	struct link link;
	bool is_terminal;
	bool has_color;
};

#define AT(member) offsetof(struct monitor_command, member)

static const struct argument_option options[] = {
	{"count", 0, ARGUMENT_INT, AT(count), 1, INT64_MAX, NULL, "N",
		"end after N lines; default: at Ctrl-C"},
	{"host", 0, ARGUMENT_TEXT, SESSION_COMMAND_AT(host), 0, 0, NULL, "HOST",
		"host of a bare PORT; default localhost"},
	{"target", 0, ARGUMENT_TEXT, SESSION_COMMAND_AT(target), 0, 0, NULL, "PID|NAME",
		"program of a host daemon"},
	{"newest", 0, ARGUMENT_FLAG, SESSION_COMMAND_AT(has_newest), 0, 0, NULL, NULL,
		"if several programs have the NAME, take the one started last"},
	{"ssh", 0, ARGUMENT_TEXT, SESSION_COMMAND_AT(ssh), 0, 0, NULL, "[USER@]DEST",
		"connect by an ssh tunnel; a PORT is one of that machine"},
	{"json", 0, ARGUMENT_FLAG, SESSION_COMMAND_AT(capture.is_json), 0, 0, NULL, NULL,
		"print a JSON object a line instead of text"},
};

/* --- one measurement ----------------------------------------------------------------------- */

static int pack_request(const struct monitor_command *m, struct exchange *e, uint8_t **out)
{
	Tensorflow__MonitorRequest request = TENSORFLOW__MONITOR_REQUEST__INIT;
	int r;

	request.duration_ms = (uint64_t)m->interval_ms;
	request.monitoring_level = LEVEL_DETAILED;
	r = proto_pack(&request.base, out, &e->message_bytes);
	e->message = *out;
	return r;
}

/* Explains that the server, like JAX's, does not have Monitor. */
static int explain_unknown(const struct exchange *e, struct diag *d)
{
	diag_set(d, -EOPNOTSUPP,
		"%s: this server has no Monitor (UNIMPLEMENTED), just as JAX's has none: "
		"use proftap capture; "
		"if that "
		"fails, too, it is not a profiler's server",
		e->address->text);
	return EXIT_FAILED;
}

static int measure_sample(
	struct monitor_command *m, Tensorflow__MonitorResponse **out, struct diag *d)
{
	struct exchange e = {
		.address = &m->command.settings.targets[0],
		.link = &m->link,
		.path = MONITOR_PATH,
		.timeout_ms = m->interval_ms + SLACK_MS,
	};
	_cleanup_free_ uint8_t *message = NULL;
	int code;

	if (pack_request(m, &e, &message) < 0)
		return failure_explain_no_request(e.address, d);
	code = exchange_run(&e, d);
	if (code == EXIT_DONE) {
		*out = (Tensorflow__MonitorResponse *)exchange_unpack(
			&e, &tensorflow__monitor_response__descriptor, d);
		code = *out ? EXIT_DONE : EXIT_FAILED;
	} else if (exchange_is_unknown(&e)) {
		code = explain_unknown(&e, d);
	}
	exchange_deinit(&e);
	return code;
}

/* --- the line of a measurement ------------------------------------------------------------- */

/*
 * Cuts the line to the columns of the terminal; each character takes one column. A line that is
 * redrawn in place must not wrap; --json and a pipe get the whole line.
 */
static void cut_line(struct monitor_line *l)
{
	size_t n_left = terminal_get_width(stdout);
	size_t n_pieces = 0;
	char *last = NULL;

	if (n_left < 2)
		return;
	n_left--;
	for (size_t i = 0; i < l->n_pieces; i++)
		for (char *p = l->pieces[i].text; *p; p++) {
			if (((unsigned char)*p & 0xc0) == 0x80)
				continue;
			if (n_left-- == 0) {
				strcpy(last, "…");
				l->n_pieces = n_pieces;
				return;
			}
			last = p;
			n_pieces = i + 1;
		}
}

/* Writes the text of a server of another make, '?' for unprintable bytes. */
static void write_lines(const char *text)
{
	size_t n = strlen(text);

	while (n > 0 && text[n - 1] == '\n')
		n--;
	for (size_t i = 0; i < n;) {
		size_t length = strcspn(text + i, "\n");
		_cleanup_free_ char *whole = strndup(text + i, length);

		terminal_write(whole ? whole : "", stdout);
		putchar('\n');
		i += length + 1;
	}
}

static void print_text(
	const struct monitor_command *m, const char *text, const struct monitor_sample *s)
{
	struct monitor_line line;

	if (!monitor_line_format(&line, s)) {
		write_lines(text);
		return;
	}
	if (m->is_terminal) {
		cut_line(&line);
		fputs("\r\033[K", stdout);
	}
	for (size_t i = 0; i < line.n_pieces; i++)
		terminal_write_colored(
			m->has_color ? line.pieces[i].color : "", line.pieces[i].text, stdout);
	if (!m->is_terminal)
		putchar('\n');
}

static void add_number(struct json *j, const char *key, double value)
{
	if (value < 0)
		json_nothing(j, key);
	else
		json_double(j, key, value);
}

/* Older servers report the memory only in tenths of a mebibyte. */
static void add_resident(struct json *j, const char *key, int64_t bytes, double mib)
{
	if (bytes < 0 && mib >= 0)
		bytes = (int64_t)(mib * 1048576 + 0.5);
	if (bytes < 0)
		json_nothing(j, key);
	else
		json_int(j, key, bytes);
}

static void add_rate(struct json *j, const char *key, int64_t n, const struct monitor_sample *s)
{
	add_number(j, key, n < 0 || s->seconds <= 0 ? -1 : (double)n / s->seconds);
}

static void print_json(
	const struct monitor_command *m, const char *text, const struct monitor_sample *s)
{
	struct json j;

	json_begin(&j, stdout);
	json_text(&j, "target", m->command.settings.targets[0].text);
	json_known_text(&j, "process", s->process);
	json_int(&j, "pid", s->pid < 0 ? 0 : s->pid);
	add_number(&j, "seconds", s->seconds);
	add_number(&j, "cpu_percent", s->cpu_percent);
	add_number(&j, "family_cpu_percent", s->family_cpu_percent);
	add_resident(&j, "family_resident_bytes", s->family_resident_bytes, s->family_resident_mib);
	add_number(&j, "processors", (double)s->processors);
	add_resident(&j, "resident_bytes", s->resident_bytes, s->resident_mib);
	add_number(&j, "faults_per_s", s->faults_per_s);
	add_number(&j, "threads", (double)s->threads);
	add_number(&j, "switches_per_s", s->switches_per_s);
	add_number(&j, "read_bytes_per_s", s->read_per_s);
	add_number(&j, "written_bytes_per_s", s->written_per_s);
	add_rate(&j, "annotations_per_s", s->annotations, s);
	add_number(&j, "annotated_threads", (double)s->annotated_threads);
	add_rate(&j, "steps_per_s", s->steps, s);
	add_number(&j, "step_ms_avg", s->step_ms_avg);
	add_number(&j, "step_ms_min", s->step_ms_min);
	add_number(&j, "step_ms_max", s->step_ms_max);
	json_text(&j, "text", text);
	json_end(&j);
}

static int show_sample(struct monitor_command *m, const Tensorflow__MonitorResponse *answer)
{
	struct monitor_sample sample;

	monitor_text_parse(answer->data, &sample);
	if (m->command.settings.capture.is_json)
		print_json(m, answer->data, &sample);
	else
		print_text(m, answer->data, &sample);
	/* The reader of standard output may have gone; streams_finish() reports that later. */
	return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}

static int watch_samples(struct monitor_command *m, struct diag *d)
{
	int code = EXIT_DONE;

	for (int64_t i = 0; code == EXIT_DONE && (m->count < 0 || i < m->count); i++) {
		Tensorflow__MonitorResponse *answer = NULL;

		code = measure_sample(m, &answer, d);
		if (code == EXIT_DONE)
			code = show_sample(m, answer);
		if (answer)
			tensorflow__monitor_response__free_unpacked(answer, NULL);
	}
	if (m->is_terminal)
		putchar('\n');
	/* An interrupt is the normal end. */
	return code == EXIT_INTERRUPTED ? EXIT_DONE : code;
}

static int watch_target(struct session_command *c, struct diag *d)
{
	struct monitor_command *m = (struct monitor_command *)c;
	int code = link_open(&m->link, &c->settings.targets[0], d);

	if (code == EXIT_DONE)
		code = watch_samples(m, d);
	link_close(&m->link);
	return code;
}

static int parse_monitor(const struct command *self, int argc, char **argv,
	struct monitor_command *m, struct diag *d)
{
	int n_left;
	long long ms = DEFAULT_MS;
	int r = command_parse(self, argc, argv, m, &n_left, d);

	if (r)
		return r;
	if (n_left == 2)
		r = argument_parse_int("MS", argv[--n_left], 1, CAPTURE_MAX_MS, &ms, d);
	m->interval_ms = ms;
	return r ? r
		 : capture_settings_finish_one(&m->command.settings, self->name, n_left, argv, d);
}

static int run_monitor(const struct command *self, int argc, char **argv)
{
	struct monitor_command m = {.count = -1, .link = LINK_INIT};
	struct diag d = DIAG_INIT;
	int code = EXIT_DONE;
	int r;

	capture_settings_init(&m.command.settings);
	r = parse_monitor(self, argc, argv, &m, &d);
	m.is_terminal = isatty(STDOUT_FILENO) && !m.command.settings.capture.is_json;
	m.has_color = m.is_terminal && terminal_has_color(stdout);
	if (r < 0)
		code = command_fail_usage(self, &d);
	else if (r == 0)
		code = session_command_act(&m.command, watch_target);
	capture_settings_deinit(&m.command.settings);
	return code;
}

const struct command command_monitor = {
	.name = "monitor",
	.usage = "[options] PORT|HOST:PORT|unix:PATH|PID|NAME [MS]",
	.summary = "show the current activity of a target, every MS milliseconds",
	.arguments.options = options,
	.arguments.n_options = sizeof options / sizeof options[0],
	.operands = ":targets",
	.run = run_monitor,
};
