/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture; see capture.h. The order matters: the place for the file is made sure of before anything
 * is recorded, and the trace is decoded before its file gets the name: only what reads as a trace,
 * and has something in it, is published.
 */
#include "client/capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/answer.h"
#include "client/clock.h"
#include "client/emptiness.h"
#include "client/exit.h"
#include "client/file_name.h"
#include "client/profile_call.h"
#include "client/recording.h"
#include "client/streams.h"
#include "client/summary.h"
#include "trace/run_dir.h"

struct work {
	const struct capture *capture;
	struct address address; /* exact, once connected */
	struct profile_options options; /* borrows the map; session and start filled in */
	struct run_dir run_dir;
	struct recording recording;
	struct recording_request request;
	uint8_t *message;
	struct answer answer;
	char *file; /* the published path */
	struct diag *d;
};

/* The place. */

static int open_place(struct work *w)
{
	const struct capture *c = w->capture;
	const struct file_name name = {c->host_name, &w->address};
	int r = run_dir_open(&w->run_dir, c->log_dir, c->run, realtime_ns() / NS_PER_S, w->d);

	if (r == 0)
		r = file_name_check_free(&name, &w->run_dir, w->d);
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

/* The request. */

/* The session has the run's name, in the letters that servers allow. */
static void set_session_id(struct work *w)
{
	if (w->options.session_id[0])
		return;
	snprintf(w->options.session_id, sizeof w->options.session_id, "%s", w->run_dir.run);
	for (char *p = w->options.session_id; *p; p++)
		if (*p == '.')
			*p = '_';
}

/* Returns the time until the recording starts. */
static int64_t set_start(struct profile_options *o)
{
	int64_t now_ns = realtime_ns();

	if (o->delay_ms > 0)
		o->start_timestamp_ns = (uint64_t)(now_ns + (int64_t)o->delay_ms * NS_PER_MS);
	if ((int64_t)o->start_timestamp_ns <= now_ns)
		return 0;
	return ((int64_t)o->start_timestamp_ns - now_ns) / NS_PER_MS;
}

static int fill_request(struct work *w)
{
	_cleanup_free_ char *log_dir = realpath(w->capture->log_dir, NULL);
	const struct profile_call call = {
		.options = &w->options,
		.host_name = w->capture->host_name,
		.address = w->address.text,
		.log_dir = log_dir ? log_dir : w->capture->log_dir,
	};
	struct recording_request *q = &w->request;
	int r;

	set_session_id(w);
	q->address = &w->address;
	q->session_id = w->options.session_id;
	q->duration_ms = (int64_t)w->options.duration_ms;
	q->delay_ms = set_start(&w->options);
	q->timeout_ms = w->capture->timeout_ms;
	if (q->timeout_ms < 0)
		q->timeout_ms = q->duration_ms + q->delay_ms + CAPTURE_SLACK_MS;
	r = profile_call_encode(&call, &w->message, &q->message_bytes);
	q->message = w->message;
	q->is_quiet = w->capture->has_program;
	if (r == 0)
		return EXIT_DONE;
	diag_set(w->d, r, "%s: no request made: out of memory", w->address.text);
	return EXIT_FAILED;
}

/* What came back. */

static int fail_empty(struct work *w)
{
	const struct emptiness e = {
		.target = w->address.text,
		.options = &w->options,
		.space = w->answer.space,
		.said = &w->capture->warnings,
	};

	emptiness_explain(&e, w->d);
	return EXIT_EMPTY;
}

/* The file. */

static void format_name(const struct work *w, char *out, size_t n)
{
	const struct file_name name = {w->capture->host_name, &w->address};

	file_name_format(&name, &w->answer, out, n);
}

static int publish(struct work *w)
{
	char name[300];

	format_name(w, name, sizeof name);
	return run_dir_publish(&w->run_dir, name, &w->file, w->d) < 0 ? EXIT_FAILED : EXIT_DONE;
}

/* What cannot be read may still be worth something to somebody. */
static void set_aside(struct work *w)
{
	struct diag why = *w->d;
	char name[300];

	format_name(w, name, sizeof name);
	if (run_dir_set_aside(&w->run_dir, name, &w->file, w->d) == 0)
		diag_set(w->d, why.code, "%.300s; what came is kept in %s", why.text, w->file);
}

static bool is_wanted(const struct work *w)
{
	const struct capture *c = w->capture;

	return !c->is_wanted || c->is_wanted(w->answer.space, c->context);
}

static int receive(struct work *w)
{
	int code;

	w->answer = (struct answer){.target = w->address.text, .run_dir = &w->run_dir, .d = w->d};
	code = answer_read(&w->answer, w->recording.profile);
	if (code == EXIT_DONE && !is_wanted(w))
		return EXIT_EMPTY;
	if (code == EXIT_DONE)
		return answer_is_empty(&w->answer) ? fail_empty(w) : EXIT_DONE;
	if (w->answer.is_broken)
		set_aside(w);
	return code;
}

static int copy_warnings(const struct names *from, struct names *to)
{
	for (uint32_t i = 0; i < from->n_texts; i++)
		if (names_intern(to, from->texts[i], strlen(from->texts[i])) == NAMES_NONE)
			return -ENOMEM;
	return 0;
}

static void warn(struct names *warnings, const char *text)
{
	names_intern(warnings, text, strlen(text));
}

static void write_summary(const struct work *w, struct names *warnings)
{
	struct summary s = {
		.target = w->address.text,
		.session_id = w->options.session_id,
		.log_dir = w->run_dir.log_dir,
		.run = w->run_dir.run,
		.file = w->file,
		.bytes = w->answer.reply.xspace_bytes,
		.asked_ms = recording_get_duration_ms(&w->recording, &w->request),
		.transfer_ms = recording_get_transfer_ms(&w->recording, &w->request),
		.is_interrupted = w->recording.stopped_ms != 0,
		.warnings = warnings,
	};

	if (s.is_interrupted)
		warn(warnings, "interrupted: the recording was ended early");
	if (w->answer.reply.is_empty_trace)
		warn(warnings, "the server says that the trace is empty, which it is not");
	if (!w->answer.space)
		warn(warnings, "the trace is too large to be summarised here: out of memory");
	summary_read_space(&s, w->answer.space);
	if (w->capture->is_json) {
		summary_write_json(&s, stdout);
	} else {
		summary_write_text(&s, stderr);
		fprintf(w->capture->has_program ? stderr : stdout, "%s\n", s.file);
	}
	if (streams_finish() < 0)
		fprintf(stderr, "the trace is in %s\n", s.file);
}

static void summarise(const struct work *w)
{
	struct names warnings = {0};

	if (copy_warnings(&w->capture->warnings, &warnings) == 0)
		write_summary(w, &warnings);
	names_deinit(&warnings);
}

/* Each step returns an enum exit_code. */
static int take_steps(struct work *w)
{
	int code = open_place(w);

	if (code == EXIT_DONE)
		code = recording_connect(&w->recording, &w->address, w->d);
	if (code == EXIT_DONE)
		code = fill_request(w);
	if (code == EXIT_DONE)
		code = recording_run(&w->recording, &w->request, w->d);
	if (code == EXIT_DONE)
		code = receive(w);
	if (code == EXIT_DONE)
		code = publish(w);
	if (code == EXIT_DONE)
		summarise(w);
	return code;
}

int capture_run(struct capture *capture, struct diag *d)
{
	struct work w = {
		.capture = capture,
		.address = capture->address,
		.options = capture->options,
		.run_dir = RUN_DIR_INIT,
		.recording = RECORDING_INIT,
		.d = d,
	};
	int code;

	*d = (struct diag)DIAG_INIT;
	code = take_steps(&w);
	snprintf(capture->target, sizeof capture->target, "%s", w.address.text);
	answer_deinit(&w.answer);
	recording_deinit(&w.recording);
	run_dir_close(&w.run_dir);
	free(w.message);
	free(w.file);
	return code;
}
