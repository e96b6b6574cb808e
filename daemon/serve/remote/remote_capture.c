/* SPDX-License-Identifier: Apache-2.0 */
/* Captures of other servers; see remote_capture.h. */
#include "daemon/serve/remote/remote_capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/serve/remote/remote_error.h"
#include "proftap/v1/profiler.pb-c.h"
#include "proto/pack.h"
#include "rpc/client.h"
#include "trace/xspace/pbwire.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

#define CAPTURE "/proftap.v1.Profiler/Capture"
#define SNAPSHOT "/proftap.v1.Profiler/Snapshot"
#define STOP "/proftap.v1.Profiler/Stop"
#define TERMINATE "/tensorflow.ProfilerService/Terminate"
/* A chunk of the trace has 1 MiB at most. */
#define MAX_MESSAGE_BYTES (2u << 20)
#define DEFAULT_HOST_LEVEL 2
#define DEFAULT_DEVICE_LEVEL 1

static void remote_capture_fail(struct remote_capture *r, const char *text)
{
	if (!r->error[0])
		remote_error_format(r->error, sizeof r->error, r->address, text);
}

/* --- asking --------------------------------------------------------------------------------- */

void remote_capture_fill_options(Tensorflow__ProfileOptions *options)
{
	const Tensorflow__ProfileOptions asked = *options;

	if (asked.version)
		return;
	tensorflow__profile_options__init(options);
	options->version = 1;
	options->host_tracer_level = DEFAULT_HOST_LEVEL;
	options->device_tracer_level = DEFAULT_DEVICE_LEVEL;
	options->duration_ms = asked.duration_ms;
	options->session_id = asked.session_id;
}

static void start_call(struct remote_capture *r, const char *path, const ProtobufCMessage *message)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct rpc_request request = {
		.path = path,
		.timeout_ms = -1,
		.max_reply_bytes = MAX_MESSAGE_BYTES,
	};
	struct diag d = DIAG_INIT;
	int error = proto_pack(message, &bytes, &request.message_bytes);

	request.message = bytes;
	if (error)
		remote_capture_fail(r, "out of memory");
	else if (rpc_stream_start(r->channel, &request, &r->call, &d))
		remote_capture_fail(r, d.text);
}

static void start_capture_call(struct remote_capture *r, const char *address,
	struct rpc_channel *channel, struct disk_share *share, const char *path,
	const ProtobufCMessage *message)
{
	snprintf(r->address, sizeof r->address, "%s", address);
	r->trace.share = share;
	r->sum = XXH3_createState();
	r->channel = channel;
	if (!r->channel || !r->sum) {
		remote_capture_fail(r, "out of memory");
		return;
	}
	XXH3_64bits_reset(r->sum);
	start_call(r, path, message);
}

void remote_capture_start(struct remote_capture *r, const char *address,
	struct rpc_channel *channel, const Tensorflow__ProfileOptions *options,
	struct disk_share *share)
{
	Proftap__V1__CaptureRequest message = PROFTAP__V1__CAPTURE_REQUEST__INIT;

	message.options = (Tensorflow__ProfileOptions *)options;
	message.progress_interval_ms =
		r->progress_interval_ms ? r->progress_interval_ms : UINT32_MAX;
	start_capture_call(r, address, channel, share, CAPTURE, &message.base);
}

void remote_capture_start_snapshot(struct remote_capture *r, const char *address,
	struct rpc_channel *channel, const struct remote_snapshot *what, struct disk_share *share)
{
	Proftap__V1__SnapshotRequest snapshot = PROFTAP__V1__SNAPSHOT_REQUEST__INIT;
	Proftap__V1__StopRequest stop = PROFTAP__V1__STOP_REQUEST__INIT;

	if (what->session_id)
		snapshot.session_id = stop.session_id = (char *)what->session_id;
	snapshot.last_ms = what->last_ms;
	if (what->ends)
		start_capture_call(r, address, channel, share, STOP, &stop.base);
	else
		start_capture_call(r, address, channel, share, SNAPSHOT, &snapshot.base);
}

void remote_capture_ask_to_end(struct remote_capture *r, const char *session_id)
{
	Tensorflow__TerminateRequest message = TENSORFLOW__TERMINATE_REQUEST__INIT;
	uint8_t bytes[160];
	struct rpc_request request = {.path = TERMINATE, .message = bytes, .timeout_ms = -1};
	struct diag d = DIAG_INIT;

	message.session_id = (char *)session_id;
	if (!r->call || tensorflow__terminate_request__get_packed_size(&message) > sizeof bytes)
		return;
	request.message_bytes = tensorflow__terminate_request__pack(&message, bytes);
	r->ending = rpc_pending_free(r->ending);
	if (rpc_call_start(r->channel, &request, &r->ending, &d))
		remote_capture_fail(r, d.text);
}

bool remote_capture_end_is_answered(struct remote_capture *r, int64_t wait_ms)
{
	return !r->ending || rpc_pending_wait(r->ending, wait_ms);
}

/* --- reading -------------------------------------------------------------------------------- */

/* Returns |error|, the result of an operation on the trace's file, and keeps its text. */
static int note_stored(struct remote_capture *r, int error, const struct diag *d)
{
	if (error)
		remote_capture_fail(r, d->text);
	return error;
}

int remote_capture_append(
	struct remote_capture *r, const struct chunks *bytes, uint64_t *offset_out)
{
	struct diag d = DIAG_INIT;

	return note_stored(r, remote_trace_append(&r->trace, bytes, offset_out, &d), &d);
}

/*
 * The last progress has the size of the trace. If the share has no room for it, the trace is not
 * fetched from its server.
 */
static int take_progress(struct remote_capture *r, const struct pb_field *field)
{
	Proftap__V1__Progress *progress =
		proftap__v1__progress__unpack(NULL, field->n_bytes, field->data);
	uint64_t n_bytes = progress ? progress->xspace_bytes : 0;
	struct diag d = DIAG_INIT;

	if (!progress)
		return -EBADMSG;
	r->progress = (struct remote_progress){.phase = (int)progress->phase,
		.elapsed_ns = progress->elapsed_ns,
		.recorded_bytes = progress->recorded_bytes,
		.xspace_bytes = n_bytes};
	proftap__v1__progress__free_unpacked(progress, NULL);
	return n_bytes ? note_stored(r, remote_trace_reserve(&r->trace, n_bytes, &d), &d) : 0;
}

static int take_chunk(struct remote_capture *r, const struct pb_field *chunk)
{
	struct diag d = DIAG_INIT;

	XXH3_64bits_update(r->sum, chunk->data, chunk->n_bytes);
	return note_stored(
		r, remote_trace_append_bytes(&r->trace, chunk->data, chunk->n_bytes, &d), &d);
}

static int take_trailer(struct remote_capture *r, const struct pb_field *field)
{
	Proftap__V1__Trailer *trailer =
		proftap__v1__trailer__unpack(NULL, field->n_bytes, field->data);
	uint64_t n_bytes = remote_trace_get_bytes(&r->trace);

	if (!trailer)
		return -EBADMSG;
	r->is_empty = trailer->is_empty;
	r->n_events = trailer->n_events;
	r->n_dropped = trailer->n_dropped;
	r->start_unix_ns = trailer->start_unix_ns;
	if (trailer->machine_usage) {
		r->usage_since_ns = trailer->machine_usage->start_ns;
		r->usage_duration_ns = trailer->machine_usage->duration_ns;
	}
	r->is_complete = trailer->xspace_bytes == n_bytes &&
			 trailer->xspace_xxh3 == XXH3_64bits_digest(r->sum);
	proftap__v1__trailer__free_unpacked(trailer, NULL);
	return r->is_complete ? 0 : -EBADMSG;
}

static int take_part(struct remote_capture *r, const struct pb_field *part)
{
	/* The checksum in the trailer does not cover any data after the trailer. */
	if (r->is_complete)
		return -EBADMSG;
	switch (part->tag) {
	case PB_TAG(1, PB_LEN):
		return take_progress(r, part);
	case PB_TAG(2, PB_LEN):
		return take_chunk(r, part);
	case PB_TAG(3, PB_LEN):
		return take_trailer(r, part);
	default:
		return 0; /* a field of a later version */
	}
}

int remote_capture_feed(struct remote_capture *r, const uint8_t *data, size_t n)
{
	struct pb_reader reader = pb_reader(data, n);
	struct pb_field part;
	int result;

	while ((result = pb_next(&reader, &part)) > 0) {
		result = take_part(r, &part);
		if (result)
			break;
	}
	if (result)
		r->is_complete = false;
	return result;
}

static void take_message(struct remote_capture *r)
{
	size_t n = rpc_pending_get_bytes(r->call);
	_cleanup_free_ uint8_t *data = malloc(n + 1);
	int error = data ? rpc_pending_copy(r->call, data, n, &n) : -ENOMEM;

	if (!error)
		error = remote_capture_feed(r, data, n);
	if (!error)
		return;
	remote_capture_fail(
		r, error == -ENOMEM ? "out of memory" : "its answer is not a whole trace");
	rpc_pending_cancel(r->call);
}

bool remote_capture_read(struct remote_capture *r, int64_t wait_ms)
{
	if (!r->call || !rpc_pending_next(r->call, wait_ms))
		return false;
	r->has_begun = true;
	take_message(r);
	return true;
}

bool remote_capture_is_over(const struct remote_capture *r)
{
	return !r->call || rpc_pending_has_ended(r->call);
}

bool remote_capture_is_unknown(const struct remote_capture *r)
{
	return r->call && rpc_pending_has_ended(r->call) && !r->has_begun && !r->error[0] &&
	       !rpc_pending_get_fault(r->call) &&
	       rpc_pending_get_status(r->call) == RPC_UNIMPLEMENTED;
}

bool remote_capture_is_unreachable(const struct remote_capture *r)
{
	return r->call && rpc_pending_has_ended(r->call) && !r->has_begun && !r->error[0] &&
	       !rpc_pending_get_fault(r->call) &&
	       rpc_pending_get_status(r->call) == RPC_UNAVAILABLE;
}

/* --- the end -------------------------------------------------------------------------------- */

static void explain_end(struct remote_capture *r)
{
	if (r->error[0])
		return;
	r->status = rpc_pending_get_status(r->call);
	if (rpc_pending_get_fault(r->call))
		remote_capture_fail(r, rpc_pending_get_fault(r->call));
	else if (rpc_pending_get_status(r->call) != RPC_OK)
		remote_error_format_status(r->error, sizeof r->error, r->address, r->call);
	else if (!r->is_complete)
		remote_capture_fail(r, "its answer is not a whole trace");
}

void remote_capture_end(struct remote_capture *r)
{
	if (!remote_capture_is_over(r))
		remote_capture_fail(r, "it did not answer in time");
	else if (r->call)
		explain_end(r);
	if (!r->is_complete)
		remote_trace_drop(&r->trace);
	r->ending = rpc_pending_free(r->ending);
	r->call = rpc_pending_free(r->call);
	r->channel = rpc_channel_free(r->channel);
}

void remote_capture_deinit(struct remote_capture *r)
{
	r->ending = rpc_pending_free(r->ending);
	r->call = rpc_pending_free(r->call);
	r->channel = rpc_channel_free(r->channel);
	XXH3_freeState(r->sum);
	r->sum = NULL;
	remote_trace_drop(&r->trace);
}
