/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proftap start: starts a session of unknown length, or the flight recorder. proftap snapshot and
 * proftap stop fetch the data.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/profile_options.h"
#include "client/answer/profile_call.h"
#include "client/command/command.h"
#include "client/connect/exchange.h"
#include "client/connect/failure.h"
#include "client/connect/link.h"
#include "client/process/exit.h"
#include "client/process/terminal.h"
#include "client/session_command.h"
#include "client/target/address.h"
#include "proftap/v1/profiler.pb-c.h"
#include "trace/json.h"
#include "trace/quantity.h"

struct session_start {
	/* Given by the caller. */
	struct address *address; /* link_open() replaces names in it */
	const struct profile_options *options; /* contains session_id */
	const char *host_name; /* for the files' names; NULL: the server chooses */
	int64_t timeout_ms;
	bool of_recorder; /* starts the flight recorder, which only servers of proftap.v1 have */

	/* Results. */
	char session_id[128]; /* the id at the server; "": a stock server, which has no ids */
	bool is_bounded; /* only the newest data is kept; stock servers keep all */
	uint64_t max_capture_bytes; /* 0: not known */
	char process[64]; /* "": not known */
	int32_t pid; /* 0: not known */
};

#define STATUS_TIMEOUT_MS 5000

/* The second path is tried on servers that do not have the first. */
static const char *const stock_paths[] = {
	METHOD_STOCK "StartContinuousProfiling",
	METHOD_STOCK "ContinuousProfiling",
};

static struct exchange make_exchange(
	const struct session_start *s, const struct link *link, const char *path)
{
	return (struct exchange){
		.address = s->address,
		.link = link,
		.path = path,
		.timeout_ms = s->timeout_ms,
		.is_of_session = true,
		.is_of_recorder = s->of_recorder,
	};
}

/* --- starting at a server of proftap.v1 ---------------------------------------------------- */

/* An older server ignores the field for the flight recorder, and has started a session. */
static int check_recorder(const struct session_start *s, struct diag *d)
{
	if (strcmp(s->session_id, RECORDER_ID) == 0)
		return EXIT_DONE;
	diag_set(d, -EOPNOTSUPP,
		"%s: that server is older and has no flight recorder; it began a continuous "
		"session "
		"instead: proftap stop %s --discard ends it",
		s->address->text, s->address->words);
	return EXIT_FAILED;
}

static int read_start(struct session_start *s, const struct exchange *e, struct diag *d)
{
	Proftap__V1__StartReply *reply = (Proftap__V1__StartReply *)exchange_unpack(
		e, &proftap__v1__start_reply__descriptor, d);

	if (!reply)
		return EXIT_FAILED;
	snprintf(s->session_id, sizeof s->session_id, "%s", reply->session_id);
	s->is_bounded = true;
	proftap__v1__start_reply__free_unpacked(reply, NULL);
	return s->of_recorder ? check_recorder(s, d) : EXIT_DONE;
}

static int start_v1(struct session_start *s, const struct link *link,
	const struct profile_call *call, bool *is_unknown, struct diag *d)
{
	struct exchange e = make_exchange(s, link, START_PATH);
	_cleanup_free_ uint8_t *message = NULL;
	int code;

	if (profile_call_encode_start(call, s->of_recorder, &message, &e.message_bytes) < 0)
		return failure_explain_no_request(s->address, d);
	e.message = message;
	code = exchange_run(&e, d);
	if (code == EXIT_DONE)
		code = read_start(s, &e, d);
	*is_unknown = code != EXIT_DONE && exchange_is_unknown(&e);
	exchange_deinit(&e);
	return code;
}

static void read_status(struct session_start *s, const struct exchange *e)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	Proftap__V1__StatusReply *reply;
	size_t n;

	if (exchange_read(e, &bytes, &n))
		return;
	reply = proftap__v1__status_reply__unpack(NULL, n, bytes);
	if (!reply)
		return;
	s->max_capture_bytes = reply->max_capture_bytes;
	if (reply->target) {
		snprintf(s->process, sizeof s->process, "%s", reply->target->name);
		s->pid = reply->target->pid;
	}
	proftap__v1__status_reply__free_unpacked(reply, NULL);
}

/*
 * Asks for the program's name and pid and the size limit. A server that does not
 * report them is no failure.
 */
static void ask_status(struct session_start *s, const struct link *link)
{
	struct exchange e = make_exchange(s, link, STATUS_PATH);
	struct diag d = DIAG_INIT;
	int64_t max_bytes = profile_options_get_number(s->options, "ptap_max_capture_bytes", 0);

	e.timeout_ms = STATUS_TIMEOUT_MS;
	if (exchange_run(&e, &d) == EXIT_DONE)
		read_status(s, &e);
	exchange_deinit(&e);
	if (max_bytes > 0)
		s->max_capture_bytes = (uint64_t)max_bytes;
}

/* --- starting at other servers ------------------------------------------------------------- */

static int start_stock(struct session_start *s, const struct link *link,
	const struct profile_call *call, struct diag *d)
{
	struct exchange e = make_exchange(s, link, stock_paths[0]);
	_cleanup_free_ uint8_t *message = NULL;
	int code;

	if (profile_call_encode(call, &message, &e.message_bytes) < 0)
		return failure_explain_no_request(s->address, d);
	e.message = message;
	code = exchange_run(&e, d);
	if (code != EXIT_DONE && exchange_is_unknown(&e)) {
		exchange_deinit(&e);
		e.path = stock_paths[1];
		code = exchange_run(&e, d);
	}
	exchange_deinit(&e);
	return code;
}

static int start_any(struct session_start *s, const struct link *link, struct diag *d)
{
	const struct profile_call call = {
		.options = s->options,
		.host_name = s->host_name,
		.address = s->address->text,
	};
	bool is_unknown = false;
	int code = start_v1(s, link, &call, &is_unknown, d);

	if (code == EXIT_DONE)
		ask_status(s, link);
	return is_unknown && !s->of_recorder ? start_stock(s, link, &call, d) : code;
}

/* Returns an enum exit_code, with |d| unless it is EXIT_DONE. */
static int start_session(struct session_start *s, struct diag *d)
{
	struct link link = LINK_INIT;
	int code = link_open(&link, s->address, d);

	if (code == EXIT_DONE)
		code = start_any(s, &link, d);
	link_close(&link);
	if (code == EXIT_INTERRUPTED)
		diag_set(d, -EINTR,
			"%s: interrupted: if the session began, proftap stop %s ends it",
			s->address->text, s->address->words);
	return code;
}

/*
 * proftap's servers use a seventh of a session's size limit for records
 * (docs/internals/protocol.md).
 */
#define RECORDS_SHARE 7

#define TIMEOUT_MS CAPTURE_SLACK_MS

static int set_session(void *settings, const char *value, struct diag *d)
{
	char text[256];

	snprintf(text, sizeof text, "session_id=%s", value);
	return capture_settings_set_option(settings, text, d);
}

static const struct argument_option options[] = {
	{"recorder", 0, ARGUMENT_FLAG, offsetof(struct session_command, is_recorder), 0, 0, NULL,
		NULL,
		"start the flight recorder, which keeps records in the program's own memory and "
		"overwrites the oldest"},
	{"session", 0, ARGUMENT_CALL, 0, 0, 0, set_session, "ID",
		"name of the session; default: the time"},
	{"option", 'o', ARGUMENT_CALL, 0, 0, 0, capture_settings_set_option, "KEY=VALUE",
		"set an option of the recording, see below"},
	{"max_bytes", 0, ARGUMENT_INT, SESSION_COMMAND_AT(max_bytes), OPTION_MIN_CAPTURE_BYTES,
		INT64_MAX, NULL, "N",
		"memory that the recording may take at the target (ptap_max_capture_bytes)"},
	SESSION_COMMAND_OPTIONS,
};

/* A session's default id has the form of a run's name. */
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
			"  each thread's ring (ring_bytes) keeps its newest records; captures can "
			"run at the same time\n");
	else if (!s->is_bounded)
		fprintf(stderr,
			"  this server keeps all data until a snapshot is taken: without snapshots "
			"its memory grows\n");
	else if (s->max_capture_bytes)
		fprintf(stderr,
			"  the newest %s of records are kept (a seventh of the memory that the "
			"session may use: --max_bytes); older ones are dropped\n",
			quantity_bytes(s->max_capture_bytes / RECORDS_SHARE).text);
	else
		fprintf(stderr,
			"  the server keeps the newest data that fits and drops older data\n");
	if (s->of_recorder)
		return;
	fprintf(stderr,
		s->is_bounded
			? "  if the program dies, the session's data is kept for five minutes\n"
			: "  the session ends with the program, and unfetched data is lost then\n");
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
	fprintf(stderr, "get the data so far: proftap snapshot %s    end it: proftap stop %s\n",
		s->address->words, s->address->words);
	/* Stock servers have no ids for sessions. */
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

static int check_start(const struct session_command *c, struct diag *d)
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

static int start_and_report(struct session_command *c, struct diag *d)
{
	struct capture_settings *s = &c->settings;
	struct client_capture *capture = &s->capture;
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
	code = start_session(&session, d);
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

static int run_start(const struct command *self, int argc, char **argv)
{
	return session_command_run(self, argc, argv, check_start, start_and_report);
}

const struct command command_start = {
	.name = "start",
	.usage = "[options] PORT|HOST:PORT|unix:PATH|PID|NAME",
	.summary = "start a recording that lasts until proftap stop, or the flight recorder",
	.arguments.options = options,
	.arguments.n_options = sizeof options / sizeof options[0],
	.operands = ":targets",
	.arguments.set_profile_option = capture_settings_set_option,
	.arguments.profile_use = OPTION_OF_SESSION | OPTION_OF_RECORDER,
	.run = run_start,
};
