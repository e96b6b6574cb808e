/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of proftap.v1; see reply_v1.h. */
#include "daemon/serve/message/reply_v1.h"

#include <errno.h>

#include "base/diag.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/message/reply.h"
#include "daemon/serve/session/session.h"
#include "rpc/server.h"

static void fail_busy(struct rpc_call *call, const char *whose)
{
	rpc_call_fail_with(
		call, RPC_ALREADY_EXISTS, "another profiling session is active (%s)", whose);
}

static const struct refusal {
	int r;
	enum rpc_status status;
	const char *text;
} refusals[] = {
	{SESSION_NONE, RPC_NOT_FOUND, "no such session runs"},
	{SESSION_OWN, RPC_FAILED_PRECONDITION,
		"the program traces itself: only the program can end that"},
	{SESSION_NO_RECORDER, RPC_NOT_FOUND,
		"neither a continuous session nor a flight recorder runs"},
	{SESSION_RECORDER_ON, RPC_ALREADY_EXISTS, "the flight recorder is on already"},
	{SESSION_NO_LAST, RPC_FAILED_PRECONDITION,
		"last_ms: a continuous session runs, and no flight recorder"},
	{SESSION_FULL, RPC_RESOURCE_EXHAUSTED, "too many snapshots are asked for at a time"},
};

static const struct refusal *find_refusal(int r)
{
	for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
		if (refusals[i].r == r)
			return &refusals[i];
	return NULL;
}

void reply_v1_refusal(struct rpc_call *call, struct session *session, int r)
{
	const struct refusal *row = find_refusal(r);
	char whose[256];

	if (r == SESSION_BUSY) {
		session_describe(session, whose, sizeof whose);
		fail_busy(call, whose);
	} else if (r == -ENOMEM) {
		reply_v1_failure(call, r, NULL);
	} else if (row) {
		rpc_call_fail(call, row->status, row->text);
	} else {
		reply_gone(call, session);
	}
}

void reply_v1_failure(struct rpc_call *call, int r, const struct diag *d)
{
	switch (r) {
	case CAPTURE_CANCELLED:
		rpc_call_fail(call, RPC_CANCELLED, "the session was ended, and its data discarded");
		break;
	case CAPTURE_BUSY:
		fail_busy(call, d->text);
		break;
	case -EINVAL:
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, d->text);
		break;
	default:
		reply_failure(call, r, d);
		break;
	}
}
