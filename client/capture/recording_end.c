/* SPDX-License-Identifier: Apache-2.0 */
/* How a recording ended; see recording.h. */
#include "client/capture/recording.h"

#include <errno.h>
#include <inttypes.h>

#include "base/diag.h"
#include "base/log.h"
#include "client/connect/dial.h"
#include "client/connect/failure.h"
#include "client/process/exit.h"
#include "client/target/address.h"
#include "rpc/client.h"

/* The failed call in the words of failure.h. */
static int explain(const struct recording *r, const struct recording_request *q, struct diag *d)
{
	struct failure f = {
		.address = q->address,
		.elapsed_ms = r->ended_ms - r->started_ms,
		.timeout_ms = r->limit_ms,
		.is_silent = r->is_silent,
		.is_partial = recording_is_partial(r),
		.is_of_session = q->calls && q->calls->is_of_session,
		.is_of_recorder = q->calls && q->calls->is_of_recorder,
		.is_of_proftap = r->is_stream,
		.is_waited_for = q->is_waited_for,
	};

	link_describe_failure(&r->link, r->call, &f);
	if (r->is_late)
		f.status = RPC_DEADLINE_EXCEEDED;
	return failure_explain(&f, d);
}

static int explain_stream(
	const struct recording *r, const struct recording_request *q, struct diag *d)
{
	if (r->stream_error == -EBADMSG)
		diag_set(d, -EBADMSG, "%s: the answer is not whole, or damaged: %s",
			q->address->text, r->stream.fault);
	/* The log directory has said what is wrong with itself. */
	else if (!d->text[0])
		diag_set(d, r->stream_error, "%s: the answer cannot be read: %s", q->address->text,
			errno_words(r->stream_error));
	return EXIT_FAILED;
}

/*
 * Ended with OK, and there is nothing to read. gRPC makes that of a web server's answer "HTTP/1.1 200 OK", too; what
 * else a stream lacks, it says itself.
 */
static bool is_hollow(const struct recording *r)
{
	if (!r->is_stream)
		return !rpc_pending_has_message(r->call);
	return !r->stream_error && !r->stream.has_progress && !dial_is_connected(r->link.watch_fd);
}

int recording_finish(struct recording *r, const struct recording_request *q, struct diag *d)
{
	if (r->is_given_up) {
		diag_set(d, -EINTR, "%s: interrupted twice: nothing was written", q->address->text);
		return EXIT_INTERRUPTED;
	}
	log_info(LOG_CLIENT, "%s: %s after %" PRId64 " ms, %" PRId64 " bytes", q->address->text,
		rpc_status_name(rpc_pending_get_status(r->call)), r->ended_ms - r->started_ms,
		dial_get_received_bytes(r->link.watch_fd));
	if (!r->stream_error && (r->is_silent || rpc_pending_get_status(r->call) != RPC_OK))
		return explain(r, q, d);
	if (is_hollow(r))
		return explain(r, q, d);
	if (r->is_stream && !r->stream_error)
		r->stream_error = stream_answer_end(&r->stream);
	return r->stream_error ? explain_stream(r, q, d) : EXIT_DONE;
}

bool recording_is_answered(const struct recording *r)
{
	return r->call && !r->is_given_up && !r->is_silent && !r->is_late && !r->stream_error &&
	       rpc_pending_get_status(r->call) == RPC_OK;
}

bool recording_is_partial(const struct recording *r)
{
	bool is_ours = r->is_given_up || (r->stream_error && r->stream_error != -EBADMSG);

	return r->is_stream && r->stream.xspace_bytes > 0 && !is_ours;
}
