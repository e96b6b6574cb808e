/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about continuous sessions; see session_command.h. */
#include "client/session_command.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/answer/profile_call.h"
#include "client/capture/capture.h"
#include "client/capture/host_targets.h"
#include "client/capture/part.h"
#include "client/command/command.h"
#include "client/connect/exchange.h"
#include "client/connect/failure.h"
#include "client/connect/link.h"
#include "client/connect/tunnel.h"
#include "client/process/clock.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"
#include "client/process/progress.h"
#include "client/view/conversion.h"
#include "trace/json.h"
#include "trace/model/names.h"

/* --- fetching and stopping ----------------------------------------------------------------- */

/*
 * Fetches the data of a session like a capture's trace. Servers of proftap.v1 lose no record at a
 * snapshot or a stop. Other servers are called with GetSnapshot, and are stopped after its answer
 * has been read: what a session records in between is lost.
 */
struct session_fetch {
	/* Has the one target, the log directory and other options. */
	struct client_capture *capture;
	const char *session; /* NULL: the running one */
	bool ends; /* the session is stopped */
	uint64_t last_ms; /* the newest milliseconds of the flight recorder; 0: all data */
	bool keeps; /* the server of a dead program keeps the data for other clients */
};

#define TURN_MS 100
#define STOP_TIMEOUT_MS 10000

static const struct recording_methods snapshot_calls = {
	.stream = SNAPSHOT_PATH,
	.unary = {METHOD_STOCK "GetSnapshot", METHOD_STOCK "GetSnapShot"},
	.is_of_session = true,
};

/* Stock servers drop the data with the session, so a stop asks them for a snapshot first. */
static const struct recording_methods stop_calls = {
	.stream = STOP_PATH,
	.unary = {METHOD_STOCK "GetSnapshot", METHOD_STOCK "GetSnapShot"},
	.is_of_session = true,
};

/* Only proftap's servers have a flight recorder, so there are no unary calls. */
static const struct recording_methods recorder_snapshot_calls = {
	.stream = SNAPSHOT_PATH,
	.is_of_session = true,
	.is_of_recorder = true,
};

static const struct recording_methods recorder_stop_calls = {
	.stream = STOP_PATH,
	.is_of_session = true,
	.is_of_recorder = true,
};

static bool is_of_recorder(const struct session_fetch *h)
{
	return h->last_ms || (h->session && strcmp(h->session, RECORDER_ID) == 0);
}

static const struct recording_methods *get_calls(const struct session_fetch *h)
{
	if (is_of_recorder(h))
		return h->ends ? &recorder_stop_calls : &recorder_snapshot_calls;
	return h->ends ? &stop_calls : &snapshot_calls;
}

static const char *get_session(const struct session_fetch *h)
{
	return h->session ? h->session : "";
}

static int64_t get_timeout_ms(const struct session_fetch *h, int64_t otherwise_ms)
{
	return h->capture->timeout_ms < 0 ? otherwise_ms : h->capture->timeout_ms;
}

/* Names the session that was not found, if the user named one. */
static void explain_unknown_session(const struct session_fetch *h, struct diag *d)
{
	if (d->code == -ENOENT && h->session && !is_of_recorder(h))
		diag_set(d, -ENOENT, "%s: no continuous session %s runs there", h->capture->target,
			h->session);
}

/* Explains that the number may be the pid of an ended program whose data is no longer kept. */
static void explain_ended_program(const struct session_fetch *h, struct diag *d)
{
	const struct address *a = &h->capture->targets[0];

	if (d->code == -ECONNREFUSED && a->is_bare && a->port && kill(a->port, 0) < 0 &&
		errno == ESRCH)
		diag_set(d, -ECONNREFUSED,
			"%s: connection refused: no profiler server there, and no process %u; if that is the "
			"pid of a program that has ended, its session has ended, too; the data of a "
			"program that died is kept for five minutes, or until it is fetched",
			h->capture->target, a->port);
}

/*
 * Stops a stock server's session, whose data has been fetched or is not wanted. Interrupts are
 * ignored meanwhile, because one would leave the session running.
 */
static int stop_stock_session(const struct session_fetch *h, const struct address *address,
	const struct link *link, struct diag *d)
{
	struct exchange e = {
		.address = address,
		.link = link,
		.path = METHOD_STOCK "StopContinuousProfiling",
		.timeout_ms = get_timeout_ms(h, STOP_TIMEOUT_MS),
		.is_of_session = true,
		.is_uninterruptible = true,
	};
	int code = exchange_run(&e, d);

	exchange_deinit(&e);
	return code;
}

/* --- fetching the data --------------------------------------------------------------------- */

static int encode_requests(const struct session_fetch *h, struct part *p)
{
	struct recording_request *q = &p->request;
	const char *session = get_session(h);

	q->calls = get_calls(h);
	q->session_id = session;
	q->last_ms = h->last_ms;
	snprintf(p->options.session_id, sizeof p->options.session_id, "%s", session);
	/* An empty GetSnapshot request makes the server send the data in its answer. */
	p->profile_request = calloc(1, 1);
	if (!p->profile_request)
		return -ENOMEM;
	if (h->ends)
		return profile_call_encode_stop(
			session, false, &p->capture_request, &q->capture_bytes);
	return profile_call_encode_snapshot(
		session, h->last_ms, h->keeps, &p->capture_request, &q->capture_bytes);
}

static void show_progress(const struct part *p)
{
	struct progress_line progress = {
		.target = p->address.text,
		.elapsed_ms = clock_monotonic_ms() - p->recording.started_ms,
		.timeout_ms = p->recording.limit_ms,
		.n_targets = 1,
	};

	recording_call_add_progress(&p->recording, &progress);
	progress_draw(&progress);
}

static int request_data(const struct session_fetch *h, struct part *p)
{
	if (encode_requests(h, p) < 0)
		return failure_explain_no_request(&p->address, &p->d);
	part_send(p);
	while (p->code == EXIT_DONE && !part_receive(p, TURN_MS))
		show_progress(p);
	return p->code;
}

/*
 * Returns true if the stop ended a capture instead of a continuous session. The capture's data went
 * to the client that had started it.
 */
static bool has_ended_another(const struct session_fetch *h, const struct part *p)
{
	return h->ends && p->has_stream && p->code == EXIT_EMPTY && p->received_bytes == 0;
}

/* Fills |d| with |why|, with |more| unless it is "", and with the advice to end the session. */
static void append_goes_on(
	const struct part *p, const struct diag *why, const char *more, struct diag *d)
{
	diag_set(d, why->code,
		"%.600s%s%.200s; the session goes on: proftap stop %.200s --discard ends it",
		why->text, *more ? "; " : "", more, p->address.words);
}

/*
 * Appends the session's state to the reason why a stop failed. |error| is the reason why the
 * session could not be ended; NULL: the session has ended.
 */
static void append_outcome(struct part *p, const char *error)
{
	struct diag why = p->d;

	if (error)
		append_goes_on(p, &why, error, &p->d);
	else
		diag_set(&p->d, why.code, "%.700s; the session has ended", why.text);
}

/*
 * Ends the session once its data has left the server, whether it could be written here or not. This
 * is done before anything is printed, because a closed pipe may end this process. Returns p->code,
 * or the code of the failed end, with |d|.
 */
static int end_session(const struct session_fetch *h, struct part *p, struct diag *d)
{
	bool has_failed = p->code != EXIT_DONE && p->code != EXIT_EMPTY;
	int code = EXIT_DONE;

	if (!h->ends || (p->has_stream && !p->written_bytes))
		return p->code;
	if (!p->has_stream && !recording_call_is_answered(&p->recording)) {
		if (p->code == EXIT_TIMEOUT || p->code == EXIT_INTERRUPTED)
			append_outcome(p, "");
		return p->code;
	}
	if (!p->has_stream)
		code = stop_stock_session(h, &p->address, &p->recording.link, d);
	if (has_failed)
		append_outcome(p, code == EXIT_DONE ? NULL : d->text);
	return has_failed || code == EXIT_DONE ? p->code : code;
}

static int fetch_data(const struct session_fetch *h, struct part *p, struct diag *d)
{
	struct client_capture *c = h->capture;
	struct diag inner = DIAG_INIT;
	int code = part_open(p, c->run);

	if (code == EXIT_DONE)
		code = part_connect(p);
	if (code == EXIT_DONE)
		code = request_data(h, p);
	if (p->is_over) {
		code = end_session(h, p, &inner);
		part_conclude(p);
	}
	*d = p->d;
	snprintf(c->target, sizeof c->target, "%s", p->address.text);
	if (has_ended_another(h, p)) {
		diag_set(d, -ENODATA,
			"%s: no continuous session ran there; this command ended a capture, whose "
			"data goes to the client that started it",
			p->address.text);
		return EXIT_EMPTY;
	}
	explain_unknown_session(h, d);
	explain_ended_program(h, d);
	if (code == p->code)
		return code;
	c->is_reported = p->code == EXIT_DONE;
	append_goes_on(p, &inner, "", d);
	return code;
}

/*
 * Fetches the data, and prints the summary and the path of the file. Returns an enum exit_code.
 * With any other code than EXIT_DONE, |d| is set, and nothing was published; but if
 * capture->is_reported, the file was published and only the stop failed.
 */
static int session_fetch_run(const struct session_fetch *h, struct diag *d)
{
	struct names taken = {0};
	struct part p;
	int code;

	part_init(&p, h->capture, 0, &taken);
	code = fetch_data(h, &p, d);
	part_deinit(&p);
	names_deinit(&taken);
	return code;
}

/* --- discarding the data ------------------------------------------------------------------- */

static int request_discard(
	const struct session_fetch *h, struct exchange *e, const uint8_t *message, struct diag *d)
{
	int code;

	e->message = message;
	code = exchange_run(e, d);
	if (code == EXIT_DONE || !exchange_is_unknown(e) || is_of_recorder(h))
		return code;
	return stop_stock_session(h, e->address, e->link, d);
}

static int discard_session(const struct session_fetch *h, const struct address *address,
	const struct link *link, struct diag *d)
{
	struct exchange e = {
		.address = address,
		.link = link,
		.path = STOP_PATH,
		.timeout_ms = get_timeout_ms(h, STOP_TIMEOUT_MS),
		.is_of_session = true,
		.is_of_recorder = is_of_recorder(h),
	};
	_cleanup_free_ uint8_t *message = NULL;
	int code;

	if (profile_call_encode_stop(get_session(h), true, &message, &e.message_bytes) < 0)
		return failure_explain_no_request(address, d);
	code = request_discard(h, &e, message, d);
	exchange_deinit(&e);
	return code;
}

/* Stops the session and drops its data. Returns an enum exit_code. */
static int session_discard(const struct session_fetch *h, struct diag *d)
{
	struct address address = h->capture->targets[0];
	struct link link = LINK_INIT;
	int code = link_open(&link, &address, d);

	if (code == EXIT_DONE)
		code = discard_session(h, &address, &link, d);
	link_close(&link);
	snprintf(h->capture->target, sizeof h->capture->target, "%s", address.text);
	explain_unknown_session(h, d);
	explain_ended_program(h, d);
	return code;
}

const struct command_words session_command_values[] = {
	{"format", NULL, 0, formats_get_name, NULL},
	{NULL, NULL, 0, NULL, NULL},
};

static void explain_command(const struct session_command *c, int code, const struct diag *d)
{
	/* The file has been written and reported, so only the failure is printed. */
	if (c->settings.capture.is_reported)
		fprintf(stderr, "%s\n", d->text);
	else
		capture_failure_write(&c->settings.capture, code, d);
}

static int act_on_target(struct session_command *c,
	int (*act)(struct session_command *, struct diag *), struct diag *d)
{
	struct capture_settings *s = &c->settings;
	struct tunnel tunnel;
	int code;

	if (s->target)
		host_targets_set(&s->targets[0], s->target);
	if (!s->ssh)
		return act(c, d);
	code = tunnel_open(&tunnel, s->ssh, s->targets, s->capture.n_targets, d);
	if (code == EXIT_DONE)
		code = act(c, d);
	tunnel_close(&tunnel);
	return code;
}

int session_command_act(
	struct session_command *c, int (*act)(struct session_command *c, struct diag *d))
{
	struct diag d = DIAG_INIT;
	int code;

	interrupt_start();
	code = act_on_target(c, act, &d);
	if (code != EXIT_DONE)
		explain_command(c, code, &d);
	return code;
}

static int parse_command(const struct command *self, int argc, char **argv,
	struct session_command *c, struct diag *d)
{
	int n_left;
	int r = command_parse(self, argc, argv, c, &n_left, d);

	return r ? r : capture_settings_finish_one(&c->settings, self->name, n_left, argv, d);
}

int session_command_run(const struct command *self, int argc, char **argv,
	int (*check)(const struct session_command *c, struct diag *d),
	int (*act)(struct session_command *c, struct diag *d))
{
	struct session_command c = {.session = NULL};
	struct diag d = DIAG_INIT;
	int code = EXIT_DONE;
	int r;

	capture_settings_init(&c.settings);
	r = parse_command(self, argc, argv, &c, &d);
	if (r == 0 && check)
		r = check(&c, &d);
	if (r < 0)
		code = command_fail_usage(self, &d);
	else if (r == 0)
		code = session_command_act(&c, act);
	capture_settings_deinit(&c.settings);
	return code;
}

static int fetch_session(struct session_command *c, bool ends, struct diag *d)
{
	struct capture_settings *s = &c->settings;
	const struct session_fetch h = {
		.capture = &s->capture,
		.session = c->session,
		.ends = ends,
		.last_ms = (uint64_t)c->last_ms,
		.keeps = c->keeps,
	};
	int code;

	if (log_dir_choose(&s->log_dir, s->capture.log_dir, d))
		return EXIT_FAILED;
	s->capture.log_dir = s->log_dir.path;
	code = session_fetch_run(&h, d);
	if (code != EXIT_DONE)
		log_dir_discard(&s->log_dir);
	return code;
}

int session_command_fetch(struct session_command *c, struct diag *d)
{
	return fetch_session(c, false, d);
}

static void say_discarded(const struct client_capture *c)
{
	struct json j;

	if (!c->is_json) {
		fprintf(stderr, "%s: the session was ended, and its data dropped\n", c->target);
		return;
	}
	json_begin(&j, stdout);
	json_text(&j, "target", c->target);
	json_int(&j, "exit", EXIT_DONE);
	json_text(&j, "file", NULL);
	json_end(&j);
}

int session_command_end(struct session_command *c, struct diag *d)
{
	const struct session_fetch h = {
		.capture = &c->settings.capture, .session = c->session, .ends = true};
	int code;

	if (!c->discards)
		return fetch_session(c, true, d);
	code = session_discard(&h, d);
	if (code == EXIT_DONE)
		say_discarded(h.capture);
	return code;
}
