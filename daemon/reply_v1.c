/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of proftap.v1; see reply_v1.h. */
#include "daemon/reply_v1.h"

#include <errno.h>

#include "base/diag.h"
#include "daemon/capture.h"
#include "daemon/reply.h"
#include "daemon/session.h"
#include "rpc/server.h"

static void fail_busy(struct rpc_call *call, const char *whose)
{
	rpc_call_fail_with(
		call, RPC_ALREADY_EXISTS, "another profiling session is active (%s)", whose);
}

void reply_v1_refusal(struct rpc_call *call, struct session *session, int r)
{
	char whose[256];

	switch (r) {
	case SESSION_BUSY:
		session_describe(session, whose, sizeof whose);
		fail_busy(call, whose);
		break;
	case SESSION_NONE:
		rpc_call_fail(call, RPC_NOT_FOUND, "no such session runs");
		break;
	case SESSION_OWN:
		rpc_call_fail(call, RPC_FAILED_PRECONDITION,
			"the program traces itself: only the program can end that");
		break;
	case SESSION_NO_RECORDER:
		rpc_call_fail(call, RPC_NOT_FOUND,
			"neither a continuous session nor a flight recorder runs");
		break;
	case SESSION_RECORDER_ON:
		rpc_call_fail(call, RPC_ALREADY_EXISTS, "the flight recorder is on already");
		break;
	case SESSION_NO_LAST:
		rpc_call_fail(call, RPC_FAILED_PRECONDITION,
			"last_ms: a continuous session runs, and no flight recorder");
		break;
	case SESSION_FULL:
		rpc_call_fail(
			call, RPC_RESOURCE_EXHAUSTED, "too many snapshots are asked for at a time");
		break;
	case -ENOMEM:
		reply_v1_failure(call, r, NULL);
		break;
	default:
		rpc_call_fail(call, RPC_UNAVAILABLE, session_gone_text);
		break;
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
