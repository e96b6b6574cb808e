/* SPDX-License-Identifier: Apache-2.0 */
/* A Profile call; see recording.h. */
#include "client/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/log.h"
#include "client/address.h"
#include "client/clock.h"
#include "client/dial.h"
#include "client/exit.h"
#include "client/failure.h"
#include "client/interrupt.h"
#include "client/locate.h"
#include "client/profile_call.h"
#include "rpc/client.h"

/* A gRPC server speaks first, at once; one that did not within this time is none, or is stopped. */
#define SILENCE_MS 5000
#define TERMINATE_TIMEOUT_MS 10000
#define TERMINATE_MAX_BYTES 65536 /* it has no fields */
/* The largest answer, and more than what HTTP/2 adds to it. */
#define MAX_RECEIVED_BYTES (INT64_C(2112) << 20)

int recording_connect(struct recording *r, struct address *address, struct diag *d)
{
	int fd = locate(address, d);

	if (fd < 0)
		return fd == -EINVAL ? EXIT_USAGE : EXIT_NOBODY;
	fd = dial(address, DIAL_TIMEOUT_MS, d);
	if (fd == -ECONNREFUSED && !address->path[0] && locate_port_as_pid(address))
		fd = dial(address, DIAL_TIMEOUT_MS, d);
	if (fd == -EINTR)
		return EXIT_INTERRUPTED;
	if (fd < 0)
		return EXIT_NOBODY;
	/* A tunnel takes every connection, and looks for its other end afterwards. */
	if (address->is_tunnel && failure_explain_tunnel(address, d) != EXIT_DONE) {
		close(fd);
		return EXIT_NOBODY;
	}
	r->watch_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	/* gRPC's own name for the authority of a unix socket. */
	if (rpc_channel_new(fd, address->path[0] ? "localhost" : address->text, &r->channel, d) < 0)
		return EXIT_FAILED;
	return EXIT_DONE;
}

/* Asks the server to end the session early. A failure is logged: waiting goes on all the same. */
static void send_terminate(struct recording *r, const char *session_id)
{
	struct rpc_request request = {
		.path = TERMINATE_PATH,
		.timeout_ms = TERMINATE_TIMEOUT_MS,
		.max_reply_bytes = TERMINATE_MAX_BYTES,
	};
	_cleanup_free_ uint8_t *message = NULL;
	struct diag d = DIAG_INIT;

	r->stopped_ms = clock_monotonic_ms();
	if (profile_call_encode_terminate(session_id, &message, &request.message_bytes) < 0)
		return;
	request.message = message;
	if (rpc_call_start(r->channel, &request, &r->terminate, &d) < 0)
		log_error(LOG_CLIENT, "%s", d.text);
}

static bool has_not_spoken(const struct recording *r)
{
	int64_t n_bytes = dial_get_received_bytes(r->watch_fd);

	return n_bytes >= 0 && n_bytes < FAILURE_SPOKEN_BYTES;
}

/* What is to be done between two waits. */
static void look_after(struct recording *r, const struct recording_request *q)
{
	if (interrupt_get_count() >= 2) {
		r->is_given_up = true;
		rpc_pending_cancel(r->profile);
		return;
	}
	if (interrupt_get_count() == 1 && !r->stopped_ms)
		send_terminate(r, q->session_id);
	if (clock_monotonic_ms() - r->started_ms >= SILENCE_MS && has_not_spoken(r)) {
		r->is_silent = true;
		rpc_pending_cancel(r->profile);
	}
	if (dial_get_received_bytes(r->watch_fd) > MAX_RECEIVED_BYTES)
		rpc_pending_refuse_large(r->profile);
}

bool recording_poll(struct recording *r, const struct recording_request *q, int64_t wait_ms)
{
	if (!rpc_pending_wait(r->profile, wait_ms)) {
		look_after(r, q);
		if (!r->is_given_up && !r->is_silent)
			return false;
		/* It was cancelled, and ends at once. */
		rpc_pending_wait(r->profile, -1);
	}
	r->ended_ms = clock_monotonic_ms();
	return true;
}

/* The failed call in the words of failure.h. */
static int explain(const struct recording *r, const struct recording_request *q, struct diag *d)
{
	struct failure f = {
		.address = q->address,
		.status = rpc_pending_get_status(r->profile),
		.text = rpc_pending_get_text(r->profile),
		.fault = rpc_pending_get_fault(r->profile),
		.elapsed_ms = r->ended_ms - r->started_ms,
		.received_bytes = dial_get_received_bytes(r->watch_fd),
		.timeout_ms = q->timeout_ms,
		.is_connected = dial_is_connected(r->watch_fd),
		.is_silent = r->is_silent,
	};

	return failure_explain(&f, d);
}

int recording_start(struct recording *r, const struct recording_request *q, struct diag *d)
{
	struct rpc_request request = {
		.path = PROFILE_PATH,
		.message = q->message,
		.message_bytes = q->message_bytes,
		.timeout_ms = q->timeout_ms,
	};

	r->started_ms = clock_monotonic_ms();
	if (rpc_call_start(r->channel, &request, &r->profile, d) < 0)
		return EXIT_FAILED;
	log_info(LOG_CLIENT,
		"%s: asked for %" PRId64 " ms, session %s; giving up after %" PRId64 " ms",
		q->address->text, q->duration_ms, q->session_id, q->timeout_ms);
	return EXIT_DONE;
}

int recording_finish(struct recording *r, const struct recording_request *q, struct diag *d)
{
	if (r->is_given_up) {
		diag_set(d, -EINTR, "%s: interrupted twice: nothing was written", q->address->text);
		return EXIT_INTERRUPTED;
	}
	log_info(LOG_CLIENT, "%s: %s after %" PRId64 " ms, %" PRId64 " bytes", q->address->text,
		rpc_status_name(rpc_pending_get_status(r->profile)), r->ended_ms - r->started_ms,
		dial_get_received_bytes(r->watch_fd));
	if (!r->is_silent && rpc_pending_get_status(r->profile) == RPC_OK)
		return EXIT_DONE;
	return explain(r, q, d);
}

int64_t recording_get_received_bytes(const struct recording *r)
{
	int64_t n_bytes = dial_get_received_bytes(r->watch_fd);

	return n_bytes > 0 ? n_bytes : 0;
}

int64_t recording_get_duration_ms(const struct recording *r, const struct recording_request *q)
{
	int64_t begin_ms = r->started_ms + q->delay_ms;

	if (!r->stopped_ms || r->stopped_ms >= begin_ms + q->duration_ms)
		return q->duration_ms;
	return r->stopped_ms > begin_ms ? r->stopped_ms - begin_ms : 0;
}

int64_t recording_get_transfer_ms(const struct recording *r, const struct recording_request *q)
{
	int64_t end_ms = r->started_ms + q->delay_ms + recording_get_duration_ms(r, q);

	return r->ended_ms > end_ms ? r->ended_ms - end_ms : 0;
}

void recording_deinit(struct recording *r)
{
	rpc_pending_free(r->terminate);
	rpc_pending_free(r->profile);
	rpc_channel_free(r->channel);
	if (r->watch_fd >= 0)
		close(r->watch_fd);
	*r = (struct recording)RECORDING_INIT;
}
