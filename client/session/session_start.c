/* SPDX-License-Identifier: Apache-2.0 */
/* Starts; see session_start.h. */
#include "client/session/session_start.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/profile_options.h"
#include "client/answer/profile_call.h"
#include "client/connect/exchange.h"
#include "client/connect/failure.h"
#include "client/connect/link.h"
#include "client/connect/method.h"
#include "client/process/exit.h"
#include "client/target/address.h"
#include "proftap/v1/profiler.pb-c.h"

#define STATUS_TIMEOUT_MS 5000

/* In this order, where a server does not know the one before. */
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

/* proftap.v1 */

/* A server that does not know the field began a session. */
static int check_recorder(const struct session_start *s, struct diag *d)
{
	if (strcmp(s->session_id, RECORDER_ID) == 0)
		return EXIT_DONE;
	diag_set(d, -EOPNOTSUPP,
		"%s: that server is older and has no flight recorder; it began a continuous session "
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

/* Whom and how much: nice to know, and no failure when it is not told. */
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

/* Others. */

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

static int start(struct session_start *s, const struct link *link, struct diag *d)
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

int session_start_run(struct session_start *s, struct diag *d)
{
	struct link link = LINK_INIT;
	int code = link_open(&link, s->address, d);

	if (code == EXIT_DONE)
		code = start(s, &link, d);
	link_close(&link);
	if (code == EXIT_INTERRUPTED)
		diag_set(d, -EINTR,
			"%s: interrupted: if the session began, proftap stop %s ends it",
			s->address->text, s->address->words);
	return code;
}
