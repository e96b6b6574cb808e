/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proftap start: a session of unknown length, or the flight recorder, which proftap snapshot and proftap stop take the data
 * from.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/diag.h"
#include "client/answer/profile_call.h"
#include "client/command/command.h"
#include "client/process/exit.h"
#include "client/process/terminal.h"
#include "client/session/session_command.h"
#include "client/session/session_start.h"
#include "trace/json.h"
#include "trace/quantity.h"

/* Of a session at servers of this project: records get that much of its bounds (docs/internals/protocol.md). */
#define RECORDS_SHARE 7

#define TIMEOUT_MS CAPTURE_SLACK_MS

static int set_session(void *settings, const char *value, struct diag *d)
{
	char text[256];

	snprintf(text, sizeof text, "session_id=%s", value);
	return capture_settings_set_option(settings, text, d);
}

static const struct command_option options[] = {
	{"recorder", 0, COMMAND_OPTION_FLAG, offsetof(struct session_command, is_recorder), 0, 0,
		NULL, NULL,
		"the flight recorder: overwrites the oldest in the program's own memory"},
	{"session", 0, COMMAND_OPTION_CALL, 0, 0, 0, set_session, "ID",
		"what the session is called; default: the time"},
	{"option", 'o', COMMAND_OPTION_CALL, 0, 0, 0, capture_settings_set_option, "KEY=VALUE",
		"an option of the recording, see below"},
	{"max_bytes", 0, COMMAND_OPTION_INT, SESSION_COMMAND_AT(max_bytes),
		OPTION_MIN_CAPTURE_BYTES, INT64_MAX, NULL, "N",
		"memory for it at the target (ptap_max_capture_bytes)"},
	SESSION_COMMAND_OPTIONS,
};

/* As runs are called. */
static void choose_session_id(struct profile_options *o)
{
	time_t now = (time_t)(realtime_ns() / NS_PER_S);
	struct tm tm;

	if (o->session_id[0])
		return;
	localtime_r(&now, &tm);
	strftime(o->session_id, sizeof o->session_id, "%Y_%m_%d_%H_%M_%S", &tm);
}

static void say_bounds(const struct session_start *s)
{
	if (s->of_recorder)
		fprintf(stderr,
			"  the newest of each thread is kept in its ring (ring_bytes); captures run beside "
			"it\n");
	else if (!s->is_bounded)
		fprintf(stderr,
			"  this server keeps all of it until a snapshot is taken: without them "
			"its memory grows\n");
	else if (s->max_capture_bytes)
		fprintf(stderr,
			"  the newest data is kept, %s of records (a seventh of what the capture may use: "
			"--max_bytes); what is older goes\n",
			quantity_bytes(s->max_capture_bytes / RECORDS_SHARE).text);
	else
		fprintf(stderr, "  the newest data that fits there is kept; what is older goes\n");
	if (s->of_recorder)
		return;
	fprintf(stderr,
		s->is_bounded
			? "  should the program die, what it has is kept for five minutes\n"
			: "  it ends with the program, and what was not taken is lost then\n");
}

static void write_text(const struct session_start *s, const struct names *warnings)
{
	const char *target = s->address->text;

	fprintf(stderr, s->of_recorder ? "flight recorder on: " : "recording ");
	if (s->pid) {
		terminal_write(s->process, stderr);
		fprintf(stderr, " (pid %" PRId32 ") at ", s->pid);
	}
	fprintf(stderr, "%s until it is stopped\n", target);
	say_bounds(s);
	for (uint32_t i = 0; i < warnings->n_texts; i++)
		terminal_write_line("warning", warnings->texts[i], stderr);
	fprintf(stderr, "take what there is: proftap snapshot %s    end it: proftap stop %s\n",
		s->address->words, s->address->words);
	/* Stock servers have no names for sessions. */
	if (!s->session_id[0])
		return;
	terminal_write(s->session_id, stdout);
	putchar('\n');
}

static void write_json(const struct session_start *s, const struct names *warnings)
{
	struct json j;

	json_begin(&j, stdout);
	json_text(&j, "target", s->address->text);
	json_int(&j, "exit", EXIT_DONE);
	json_text(&j, "session_id", s->session_id);
	json_known_text(&j, "process", s->process);
	json_int(&j, "pid", s->pid);
	json_bool(&j, "bounded", s->is_bounded);
	json_uint(&j, "max_capture_bytes", s->max_capture_bytes);
	json_texts(&j, "warnings", warnings->texts, warnings->n_texts);
	json_end(&j);
}

static int check_times(const struct profile_options *o, struct diag *d)
{
	if (!o->duration_ms && !o->delay_ms && !o->start_timestamp_ns)
		return 0;
	return diag_set(d, -EINVAL,
		"proftap start begins at once and ends by proftap stop: durations, delays "
		"and start times are for proftap capture");
}

static int check(const struct session_command *c, struct diag *d)
{
	const struct profile_options *o = &c->settings.capture.options;
	int r = c->is_recorder ? profile_options_check_recorder(o, d)
			       : profile_options_check_recording(o, d);

	if (r || c->is_recorder)
		return r;
	if (strcmp(o->session_id, RECORDER_ID) != 0)
		return check_times(o, d);
	return diag_set(d, -EINVAL,
		"--session " RECORDER_ID
		": that is the flight recorder's name: use --recorder, or another name");
}

static int start(struct session_command *c, struct diag *d)
{
	struct capture_settings *s = &c->settings;
	struct capture *capture = &s->capture;
	struct session_start session = {
		.address = &s->targets[0],
		.options = &capture->options,
		.host_name = capture->host_names ? capture->host_names[0] : NULL,
		.timeout_ms = capture->timeout_ms < 0 ? TIMEOUT_MS : capture->timeout_ms,
		.of_recorder = c->is_recorder,
	};
	int code;

	if (!c->is_recorder)
		choose_session_id(&capture->options);
	code = session_start_run(&session, d);
	if (code != EXIT_DONE)
		return code;
	if (!session.is_bounded && profile_options_note_ours(&capture->options, d) == OPTION_NOTED)
		names_intern(&capture->warnings, d->text, strlen(d->text));
	if (capture->is_json)
		write_json(&session, &capture->warnings);
	else
		write_text(&session, &capture->warnings);
	return EXIT_DONE;
}

static int run(const struct command *self, int argc, char **argv)
{
	return session_command_run(self, argc, argv, check, start);
}

const struct command command_start = {
	.name = "start",
	.usage = "[options] PORT|HOST:PORT|unix:PATH|PID|NAME",
	.summary = "begin to record, until proftap stop; or the flight recorder",
	.options = options,
	.n_options = sizeof options / sizeof options[0],
	.operands = ":targets",
	.set_profile_option = capture_settings_set_option,
	.profile_use = OPTION_OF_SESSION | OPTION_OF_RECORDER,
	.run = run,
};
