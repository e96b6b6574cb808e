/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings; see recording_call.h. */
#include "client/capture/recording_call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/log.h"
#include "client/answer/profile_call.h"
#include "client/connect/dial.h"
#include "client/connect/exchange.h"
#include "client/connect/failure.h"
#include "client/process/clock.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"
#include "client/process/progress.h"
#include "client/target/address.h"
#include "rpc/client.h"

#define STOP_TIMEOUT_MS 10000
#define STOP_MAX_BYTES 65536 /* the answer to a stop has hardly any fields */
#define MESSAGES_A_TURN 8

static const struct recording_methods capture_calls = {
	.stream = CAPTURE_PATH,
	.unary = {PROFILE_PATH},
};

static const struct recording_methods *get_calls(const struct recording_request *q)
{
	return q->calls ? q->calls : &capture_calls;
}

int recording_call_connect(struct recording_call *r, struct address *address, struct diag *d)
{
	return link_open(&r->link, address, d);
}

/* --- the early end ------------------------------------------------------------------------- */

static int encode_stop(
	const struct recording_call *r, const char *session_id, uint8_t **out, size_t *n_out)
{
	return r->is_stream ? profile_call_encode_stop(session_id, false, out, n_out)
			    : profile_call_encode_terminate(session_id, out, n_out);
}

/*
 * Asks the server to end the session early. A failure is only logged, and waiting goes on. The
 * answer to a Stop is not read: it has no data, because the answer to the Capture has the data.
 */
static void send_stop(struct recording_call *r, const char *session_id)
{
	struct rpc_request request = {
		.path = r->is_stream ? STOP_PATH : TERMINATE_PATH,
		.timeout_ms = STOP_TIMEOUT_MS,
		.max_reply_bytes = STOP_MAX_BYTES,
	};
	_cleanup_free_ uint8_t *message = NULL;
	struct diag d = DIAG_INIT;

	r->stopped_ms = clock_monotonic_ms();
	if (encode_stop(r, session_id, &message, &request.message_bytes) < 0)
		return;
	request.message = message;
	if ((r->is_stream ? rpc_stream_start : rpc_call_start)(
		    r->link.channel, &request, &r->stop, &d) < 0)
		log_error(LOG_CLIENT, "%s", d.text);
}

/* Returns true if the server has accepted the streamed call. */
static bool has_begun(const struct recording_call *r)
{
	return r->stream.has_progress || r->stream.xspace_bytes || r->stream.has_trailer;
}

/* A Stop must not come before its Capture; a Terminate may. */
static bool can_be_stopped(const struct recording_call *r, const struct recording_request *q)
{
	return !get_calls(q)->is_of_session && !r->stopped_ms && (!r->is_stream || has_begun(r));
}

/* --- waiting ------------------------------------------------------------------------------- */

/*
 * Counts the bytes of the answer that arrived on the connection, once the server has announced or
 * sent bytes of the trace: before, a stuck server can send progress messages for ever. A part of a
 * chunk counts, except on a unix socket, where the kernel does not report the number of received
 * bytes.
 */
static uint64_t count_moved_bytes(const struct recording_call *r)
{
	int64_t n_bytes = dial_get_received_bytes(r->link.watch_fd);

	if (r->is_stream && !r->stream.xspace_bytes && !r->stream.progress.xspace_bytes)
		return 0;
	return n_bytes > 0 ? (uint64_t)n_bytes : r->stream.xspace_bytes;
}

/*
 * gRPC enforces a limit that the user gave. The default limit grows while bytes arrive,
 * which gRPC cannot do.
 */
static void keep_limit(struct recording_call *r, const struct recording_request *q)
{
	int64_t elapsed_ms = clock_monotonic_ms() - r->started_ms;
	uint64_t n_bytes = count_moved_bytes(r);

	if (!q->silence_ms)
		return;
	if (n_bytes > r->moved_bytes && elapsed_ms + q->silence_ms > r->limit_ms)
		r->limit_ms = elapsed_ms + q->silence_ms;
	r->moved_bytes = n_bytes;
	if (elapsed_ms < r->limit_ms)
		return;
	r->is_late = true;
	rpc_pending_cancel(r->call);
}

/* Handles interrupts, silence and the limit between two waits. */
static void handle_call_events(struct recording_call *r, const struct recording_request *q)
{
	if (interrupt_get_count() >= 2) {
		r->is_given_up = true;
		rpc_pending_cancel(r->call);
		return;
	}
	if (interrupt_get_count() == 1 && can_be_stopped(r, q))
		send_stop(r, q->session_id);
	if (link_is_silent(&r->link, r->started_ms)) {
		r->is_silent = true;
		rpc_pending_cancel(r->call);
		return;
	}
	keep_limit(r, q);
}

/*
 * Reads a few messages at most, because other recordings wait. Returns whether the call has ended.
 */
static bool poll_stream(struct recording_call *r, int64_t wait_ms)
{
	for (int i = 0; i < MESSAGES_A_TURN; i++, wait_ms = 0) {
		if (!rpc_pending_next(r->call, wait_ms))
			return rpc_pending_has_ended(r->call);
		r->stream_error = stream_answer_take(&r->stream, r->call);
		if (r->stream_error)
			return true;
	}
	return false;
}

static bool poll_reply(struct recording_call *r, int64_t wait_ms)
{
	if (!rpc_pending_wait(r->call, wait_ms))
		return false;
	r->answered_unix_ns = realtime_ns();
	return true;
}

static bool poll_call(struct recording_call *r, int64_t wait_ms)
{
	return r->is_stream ? poll_stream(r, wait_ms) : poll_reply(r, wait_ms);
}

/* Returns true if the server does not have the method: it is not proftap's, or an older one. */
static bool is_unknown_call(const struct recording_call *r)
{
	return !r->stream_error && !has_begun(r) && !r->is_silent && !r->is_late &&
	       !r->is_given_up && !rpc_pending_get_fault(r->call) &&
	       rpc_pending_get_status(r->call) == RPC_UNIMPLEMENTED;
}

static const char *find_next_path(const struct recording_call *r, const struct recording_request *q)
{
	const struct recording_methods *calls = get_calls(q);

	return r->n_unary < sizeof calls->unary / sizeof calls->unary[0] ? calls->unary[r->n_unary]
									 : NULL;
}

/* Returns the time limit for a call that begins now; < 0: gRPC enforces no limit. */
static int64_t get_call_ms(const struct recording_call *r, const struct recording_request *q)
{
	int64_t elapsed_ms = clock_monotonic_ms() - r->started_ms;

	if (q->silence_ms)
		return -1;
	return q->timeout_ms > elapsed_ms ? q->timeout_ms - elapsed_ms : 0;
}

/* Calls the next unary method. Returns false if there is none, or it could not be called. */
static bool ask_next(struct recording_call *r, const struct recording_request *q)
{
	struct rpc_request request = {
		.path = find_next_path(r, q),
		.message = q->profile,
		.message_bytes = q->profile_bytes,
		.timeout_ms = get_call_ms(r, q),
	};
	struct rpc_pending *call;

	r->sent_unix_ns = realtime_ns();
	r->answered_unix_ns = 0;
	if (!request.path || rpc_call_start(r->link.channel, &request, &call, NULL) < 0)
		return false;
	r->n_unary++;
	log_debug(LOG_CLIENT, "%s: %s", q->address->text, request.path);
	rpc_pending_free(r->call);
	r->call = call;
	r->is_stream = false;
	return true;
}

bool recording_call_poll(
	struct recording_call *r, const struct recording_request *q, int64_t wait_ms)
{
	if (!poll_call(r, wait_ms)) {
		handle_call_events(r, q);
		if (!r->is_given_up && !r->is_silent && !r->is_late)
			return false;
	}
	/* A cancelled call ends at once. */
	if (r->stream_error)
		rpc_pending_cancel(r->call);
	rpc_pending_wait(r->call, -1);
	if (is_unknown_call(r) && ask_next(r, q))
		return false;
	r->ended_ms = clock_monotonic_ms();
	return true;
}

static int fail_memory(const struct recording_request *q, struct diag *d)
{
	diag_set(d, -ENOMEM, "%s: call not made: out of memory", q->address->text);
	return EXIT_FAILED;
}

static int start_stream(struct recording_call *r, const struct recording_request *q, struct diag *d)
{
	struct rpc_request request = {
		.path = get_calls(q)->stream,
		.message = q->capture,
		.message_bytes = q->capture_bytes,
		.timeout_ms = get_call_ms(r, q),
		.max_reply_bytes = STREAM_ANSWER_MAX_BYTES,
	};

	r->is_stream = true;
	r->stream = (struct stream_answer){.write = q->write, .context = q->context};
	if (stream_answer_init(&r->stream) < 0)
		return fail_memory(q, d);
	return rpc_stream_start(r->link.channel, &request, &r->call, d) < 0 ? EXIT_FAILED
									    : EXIT_DONE;
}

int recording_call_start(
	struct recording_call *r, const struct recording_request *q, struct diag *d)
{
	int code = EXIT_DONE;

	r->started_ms = clock_monotonic_ms();
	r->limit_ms = q->timeout_ms;
	r->moved_bytes = 0;
	r->n_unary = 0;
	if (get_calls(q)->stream)
		code = start_stream(r, q, d);
	else if (!ask_next(r, q))
		code = fail_memory(q, d);
	if (code != EXIT_DONE)
		return code;
	log_info(LOG_CLIENT,
		"%s: asked for %" PRId64 " ms, session %s; giving up after %" PRId64 " ms",
		q->address->text, q->duration_ms, q->session_id, q->timeout_ms);
	return EXIT_DONE;
}

uint64_t recording_call_get_received_bytes(const struct recording_call *r)
{
	int64_t n_bytes = r->is_stream ? (int64_t)r->stream.xspace_bytes
				       : dial_get_received_bytes(r->link.watch_fd);

	return n_bytes > 0 ? (uint64_t)n_bytes : 0;
}

void recording_call_add_progress(const struct recording_call *r, struct progress_line *progress)
{
	progress->recorded_bytes += r->stream.progress.recorded_bytes;
	progress->announced_bytes += r->stream.progress.xspace_bytes;
	progress->received_bytes += (int64_t)recording_call_get_received_bytes(r);
}

int64_t recording_call_get_duration_ms(
	const struct recording_call *r, const struct recording_request *q)
{
	int64_t begin_ms = r->started_ms + q->delay_ms;

	if (!r->stopped_ms || r->stopped_ms >= begin_ms + q->duration_ms)
		return q->duration_ms;
	return r->stopped_ms > begin_ms ? r->stopped_ms - begin_ms : 0;
}

int64_t recording_call_get_transfer_ms(
	const struct recording_call *r, const struct recording_request *q, int64_t duration_ms)
{
	int64_t end_ms = r->started_ms + q->delay_ms + duration_ms;

	return r->ended_ms > end_ms ? r->ended_ms - end_ms : 0;
}

void recording_call_deinit(struct recording_call *r)
{
	rpc_pending_free(r->stop);
	rpc_pending_free(r->call);
	stream_answer_deinit(&r->stream);
	link_close(&r->link);
	*r = (struct recording_call)RECORDING_CALL_INIT;
}

/* --- the end ------------------------------------------------------------------------------- */

/* Explains the failed call. */
static int explain_recording(
	const struct recording_call *r, const struct recording_request *q, struct diag *d)
{
	struct failure f = {
		.address = q->address,
		.elapsed_ms = r->ended_ms - r->started_ms,
		.timeout_ms = r->limit_ms,
		.is_silent = r->is_silent,
		.is_partial = recording_call_is_partial(r),
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
	const struct recording_call *r, const struct recording_request *q, struct diag *d)
{
	if (r->stream_error == -EBADMSG)
		diag_set(d, -EBADMSG, "%s: the answer is not whole, or damaged: %s",
			q->address->text, r->stream.fault);
	/* The writing function has set |d| if the log directory is the reason. */
	else if (!d->text[0])
		diag_set(d, r->stream_error, "%s: the answer cannot be read: %s", q->address->text,
			errno_words(r->stream_error));
	return EXIT_FAILED;
}

/*
 * Returns true if the call ended with OK and without a message. gRPC reports that also for a web
 * server's answer "HTTP/1.1 200 OK". stream_answer_end() finds everything else that a stream lacks.
 */
static bool is_empty_answer(const struct recording_call *r)
{
	if (!r->is_stream)
		return !rpc_pending_has_message(r->call);
	return !r->stream_error && !r->stream.has_progress && !dial_is_connected(r->link.watch_fd);
}

int recording_call_finish(
	struct recording_call *r, const struct recording_request *q, struct diag *d)
{
	if (r->is_given_up) {
		diag_set(d, -EINTR, "%s: interrupted twice: nothing was written", q->address->text);
		return EXIT_INTERRUPTED;
	}
	log_info(LOG_CLIENT, "%s: %s after %" PRId64 " ms, %" PRId64 " bytes", q->address->text,
		rpc_status_name(rpc_pending_get_status(r->call)), r->ended_ms - r->started_ms,
		dial_get_received_bytes(r->link.watch_fd));
	if (!r->stream_error && (r->is_silent || rpc_pending_get_status(r->call) != RPC_OK))
		return explain_recording(r, q, d);
	if (is_empty_answer(r))
		return explain_recording(r, q, d);
	if (r->is_stream && !r->stream_error)
		r->stream_error = stream_answer_end(&r->stream);
	return r->stream_error ? explain_stream(r, q, d) : EXIT_DONE;
}

bool recording_call_is_answered(const struct recording_call *r)
{
	return r->call && !r->is_given_up && !r->is_silent && !r->is_late && !r->stream_error &&
	       rpc_pending_get_status(r->call) == RPC_OK;
}

bool recording_call_is_partial(const struct recording_call *r)
{
	bool is_ours = r->is_given_up || (r->stream_error && r->stream_error != -EBADMSG);

	return r->is_stream && r->stream.xspace_bytes > 0 && !is_ours;
}
