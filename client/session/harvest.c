/* SPDX-License-Identifier: Apache-2.0 */
/* Fetching what a session holds; see harvest.h. */
#include "client/session/harvest.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/answer/profile_call.h"
#include "client/capture/capture.h"
#include "client/capture/part.h"
#include "client/connect/exchange.h"
#include "client/connect/failure.h"
#include "client/connect/link.h"
#include "client/connect/method.h"
#include "client/process/clock.h"
#include "client/process/exit.h"
#include "client/process/progress.h"
#include "trace/model/names.h"

#define TURN_MS 100
#define STOP_TIMEOUT_MS 10000

static const struct recording_calls snapshot_calls = {
	.stream = SNAPSHOT_PATH,
	.unary = {METHOD_STOCK "GetSnapshot", METHOD_STOCK "GetSnapShot"},
	.is_of_session = true,
};

/* Stock servers drop the data with the session, so a stop asks them for a snapshot first. */
static const struct recording_calls stop_calls = {
	.stream = STOP_PATH,
	.unary = {METHOD_STOCK "GetSnapshot", METHOD_STOCK "GetSnapShot"},
	.is_of_session = true,
};

/* Only servers of proftap have a flight recorder. */
static const struct recording_calls recorder_snapshot_calls = {
	.stream = SNAPSHOT_PATH,
	.is_of_session = true,
	.is_of_recorder = true,
};

static const struct recording_calls recorder_stop_calls = {
	.stream = STOP_PATH,
	.is_of_session = true,
	.is_of_recorder = true,
};

static bool is_of_recorder(const struct harvest *h)
{
	return h->last_ms || (h->session && strcmp(h->session, RECORDER_ID) == 0);
}

static const struct recording_calls *get_calls(const struct harvest *h)
{
	if (is_of_recorder(h))
		return h->ends ? &recorder_stop_calls : &recorder_snapshot_calls;
	return h->ends ? &stop_calls : &snapshot_calls;
}

static const char *get_session(const struct harvest *h)
{
	return h->session ? h->session : "";
}

static int64_t get_timeout_ms(const struct harvest *h, int64_t otherwise_ms)
{
	return h->capture->timeout_ms < 0 ? otherwise_ms : h->capture->timeout_ms;
}

/* Names the session that was not found, if the user named one. */
static void name_session(const struct harvest *h, struct diag *d)
{
	if (d->code == -ENOENT && h->session && !is_of_recorder(h))
		diag_set(d, -ENOENT, "%s: no continuous session %s runs there", h->capture->target,
			h->session);
}

/*
 * Explains that the number may be the pid of a program that has ended and whose data nobody holds.
 */
static void name_ended(const struct harvest *h, struct diag *d)
{
	const struct address *a = &h->capture->targets[0];

	if (d->code == -ECONNREFUSED && a->is_bare && a->port && kill(a->port, 0) < 0 &&
		errno == ESRCH)
		diag_set(d, -ECONNREFUSED,
			"%s: connection refused: no profiler server there, and no process %u; if that is the "
			"pid of a program that has ended, so has its session: of one that died it is kept "
			"for five minutes, or until somebody takes it",
			h->capture->target, a->port);
}

/*
 * Ends a stock server's session, whose data is here or not wanted. Interrupts are ignored
 * meanwhile, because one would leave the session running.
 */
static int end_on(const struct harvest *h, const struct address *address, const struct link *link,
	struct diag *d)
{
	struct exchange e = {
		.address = address,
		.link = link,
		.path = METHOD_STOCK "StopContinuousProfiling",
		.timeout_ms = get_timeout_ms(h, STOP_TIMEOUT_MS),
		.is_of_session = true,
		.is_owed = true,
	};
	int code = exchange_run(&e, d);

	exchange_deinit(&e);
	return code;
}

/* Fetching the data. */

static int encode(const struct harvest *h, struct part *p)
{
	struct recording_request *q = &p->request;
	const char *session = get_session(h);

	q->calls = get_calls(h);
	q->session_id = session;
	q->last_ms = h->last_ms;
	snprintf(p->options.session_id, sizeof p->options.session_id, "%s", session);
	/*
	 * GetSnapshot has an empty request: without fields the server sends the data in its answer.
	 */
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
	struct progress progress = {
		.target = p->address.text,
		.elapsed_ms = clock_monotonic_ms() - p->recording.started_ms,
		.timeout_ms = p->recording.limit_ms,
		.n_targets = 1,
	};

	recording_add_progress(&p->recording, &progress);
	progress_draw(&progress);
}

static int ask(const struct harvest *h, struct part *p)
{
	if (encode(h, p) < 0)
		return failure_explain_no_request(&p->address, &p->d);
	part_send(p);
	while (p->code == EXIT_DONE && !part_receive(p, TURN_MS))
		show_progress(p);
	return p->code;
}

/*
 * Whether the stop ended a capture instead of a continuous session; its data went to the client
 * that had begun it.
 */
static bool has_ended_another(const struct harvest *h, const struct part *p)
{
	return h->ends && p->has_stream && p->code == EXIT_EMPTY && p->received_bytes == 0;
}

/* Fills |d| with |why| and, unless it is "", |more|, and says that the session was not ended. */
static void say_that_it_goes_on(
	const struct part *p, const struct diag *why, const char *more, struct diag *d)
{
	diag_set(d, why->code,
		"%.600s%s%.200s; the session goes on: proftap stop %.200s --discard ends it",
		why->text, *more ? "; " : "", more, p->address.words);
}

/*
 * Adds to the reason why a stop failed what became of the session. |error|: why it could not be
 * ended; NULL: it has ended.
 */
static void say_fate(struct part *p, const char *error)
{
	struct diag why = p->d;

	if (error)
		say_that_it_goes_on(p, &why, error, &p->d);
	else
		diag_set(&p->d, why.code, "%.700s; the session has ended", why.text);
}

/*
 * Ends the session: its data has been taken from the server, whether it could be written here or
 * not. This is done before anything is printed, because a closed pipe may end this process. Returns
 * p->code, or the code of an end that failed, with |d|.
 */
static int end(const struct harvest *h, struct part *p, struct diag *d)
{
	bool has_failed = p->code != EXIT_DONE && p->code != EXIT_EMPTY;
	int code = EXIT_DONE;

	if (!h->ends || (p->has_stream && !p->written_bytes))
		return p->code;
	if (!p->has_stream && !recording_is_answered(&p->recording)) {
		if (p->code == EXIT_TIMEOUT || p->code == EXIT_INTERRUPTED)
			say_fate(p, "");
		return p->code;
	}
	if (!p->has_stream)
		code = end_on(h, &p->address, &p->recording.link, d);
	if (has_failed)
		say_fate(p, code == EXIT_DONE ? NULL : d->text);
	return has_failed || code == EXIT_DONE ? p->code : code;
}

static int fetch(const struct harvest *h, struct part *p, struct diag *d)
{
	struct capture *c = h->capture;
	struct diag inner = DIAG_INIT;
	int code = part_open(p, c->run);

	if (code == EXIT_DONE)
		code = part_connect(p);
	if (code == EXIT_DONE)
		code = ask(h, p);
	if (p->is_over) {
		code = end(h, p, &inner);
		part_conclude(p);
	}
	*d = p->d;
	snprintf(c->target, sizeof c->target, "%s", p->address.text);
	if (has_ended_another(h, p)) {
		diag_set(d, -ENODATA,
			"%s: a capture was ended there, no continuous session: its data goes to who began it",
			p->address.text);
		return EXIT_EMPTY;
	}
	name_session(h, d);
	name_ended(h, d);
	if (code == p->code)
		return code;
	c->is_reported = p->code == EXIT_DONE;
	say_that_it_goes_on(p, &inner, "", d);
	return code;
}

int harvest_run(const struct harvest *h, struct diag *d)
{
	struct names taken = {0};
	struct part p;
	int code;

	part_init(&p, h->capture, 0, &taken);
	code = fetch(h, &p, d);
	part_deinit(&p);
	names_deinit(&taken);
	return code;
}

/* Discarding the data. */

static int ask_to_discard(
	const struct harvest *h, struct exchange *e, const uint8_t *message, struct diag *d)
{
	int code;

	e->message = message;
	code = exchange_run(e, d);
	if (code == EXIT_DONE || !exchange_is_unknown(e) || is_of_recorder(h))
		return code;
	return end_on(h, e->address, e->link, d);
}

static int discard_on(const struct harvest *h, const struct address *address,
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
	code = ask_to_discard(h, &e, message, d);
	exchange_deinit(&e);
	return code;
}

int harvest_discard(const struct harvest *h, struct diag *d)
{
	struct address address = h->capture->targets[0];
	struct link link = LINK_INIT;
	int code = link_open(&link, &address, d);

	if (code == EXIT_DONE)
		code = discard_on(h, &address, &link, d);
	link_close(&link);
	snprintf(h->capture->target, sizeof h->capture->target, "%s", address.text);
	name_session(h, d);
	name_ended(h, d);
	return code;
}
