/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of other servers; see remote_profile.h. */
#include "daemon/serve/remote/remote_profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/pipeline/assembly/spool.h"
#include "daemon/serve/remote/remote_error.h"
#include "proto/pack.h"
#include "rpc/client.h"
#include "trace/read/outline.h"
#include "trace/xspace/pbwire.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

#define SERVICE "/tensorflow.ProfilerService/"
#define END_TIMEOUT_MS 10000
/* The limit of an answer, which is in memory as a whole. */
#define MAX_REPLY_BYTES (UINT64_C(512) << 20)

static const char two_messages[] = "its answer has more than one message";

void remote_profile_fail(struct remote_profile *r, const char *text)
{
	if (!r->error[0])
		remote_error_format(r->error, sizeof r->error, r->address, text);
}

/* --- asking --------------------------------------------------------------------------------- */

/*
 * The call is unary, but is started as a stream: both look the same on the wire, and with a stream
 * the message stays with its server until it is read.
 */
static void start_call(struct remote_profile *r, const char *path, const uint8_t *bytes, size_t n)
{
	const struct rpc_request request = {
		.path = path,
		.message = bytes,
		.message_bytes = n,
		.timeout_ms = -1,
		.max_reply_bytes = MAX_REPLY_BYTES,
	};
	struct diag d = DIAG_INIT;

	if (!r->channel)
		remote_profile_fail(r, "out of memory");
	else if (rpc_stream_start(r->channel, &request, &r->call, &d))
		remote_profile_fail(r, d.text);
}

static void prepare_profile(struct remote_profile *r, const char *address,
	struct rpc_channel *channel, struct disk_share *share)
{
	snprintf(r->address, sizeof r->address, "%s", address);
	r->trace.share = share;
	r->channel = channel;
}

void remote_profile_start(struct remote_profile *r, const char *address,
	struct rpc_channel *channel, const uint8_t *bytes, size_t n, struct disk_share *share)
{
	prepare_profile(r, address, channel, share);
	start_call(r, SERVICE "Profile", bytes, n);
}

/* A GetSnapshotRequest without a session id asks for the data in the answer. */
void remote_profile_start_snapshot(struct remote_profile *r, const char *address,
	struct rpc_channel *channel, bool ends, struct disk_share *share)
{
	prepare_profile(r, address, channel, share);
	r->is_snapshot = true;
	r->ends_session = ends;
	start_call(r, SERVICE "GetSnapshot", (const uint8_t *)"", 0);
}

/*
 * Calls GetSnapshot by its old name if the server does not know the present one. Returns true if
 * that call was started.
 */
static bool ask_by_old_name(struct remote_profile *r)
{
	if (!r->is_snapshot || r->is_by_old_name || r->is_answered || r->error[0] ||
		rpc_pending_get_fault(r->call) ||
		rpc_pending_get_status(r->call) != RPC_UNIMPLEMENTED)
		return false;
	r->is_by_old_name = true;
	r->call = rpc_pending_free(r->call);
	start_call(r, SERVICE "GetSnapShot", (const uint8_t *)"", 0);
	return r->call != NULL;
}

static int start_ending(struct remote_profile *r, const char *path, const uint8_t *bytes, size_t n)
{
	const struct rpc_request request = {
		.path = path, .message = bytes, .message_bytes = n, .timeout_ms = END_TIMEOUT_MS};
	struct diag d = DIAG_INIT;

	return rpc_call_start(r->channel, &request, &r->ending, &d);
}

void remote_profile_ask_to_end(struct remote_profile *r, const char *session_id)
{
	Tensorflow__TerminateRequest message = TENSORFLOW__TERMINATE_REQUEST__INIT;
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t n;

	message.session_id = (char *)session_id;
	if (r->is_snapshot || r->ending || remote_profile_is_over(r) ||
		proto_pack(&message.base, &bytes, &n))
		return;
	start_ending(r, SERVICE "Terminate", bytes, n);
}

/* Ends the session, whose data has arrived. */
static void end_session(struct remote_profile *r)
{
	if (r->error[0] || !r->ends_session)
		return;
	if (start_ending(r, SERVICE "StopContinuousProfiling", (const uint8_t *)"", 0))
		snprintf(r->remark, sizeof r->remark, "its session goes on: out of memory");
}

static void judge_ending(struct remote_profile *r)
{
	if (!r->is_snapshot || !r->ending)
		return;
	if (!rpc_pending_wait(r->ending, 0) || rpc_pending_get_status(r->ending) != RPC_OK)
		snprintf(r->remark, sizeof r->remark,
			"its session goes on: its server did not end it; ask again");
}

bool remote_profile_has_begun(struct remote_profile *r, int64_t wait_ms)
{
	return !r->call || rpc_pending_await_answer(r->call, wait_ms);
}

/* --- the answer ----------------------------------------------------------------------------- */

#define TOOL_DATA PB_TAG(6, PB_LEN)
#define XSPACE PB_TAG(8, PB_LEN)

/*
 * Writes the collected pieces to the file. They are collected because a trace may have very many
 * small fields.
 */
static int flush_pieces(struct remote_trace *to, struct chunks *room, struct diag *d)
{
	uint64_t offset;
	int r = room->error ? room->error : remote_trace_append(to, room, &offset, d);

	chunks_rewind(room);
	return r;
}

static int append_piece(
	struct remote_trace *to, struct chunks *room, const struct pb_field *data, struct diag *d)
{
	int r = data->n_bytes >= CHUNK_BYTES ? flush_pieces(to, room, d) : 0;

	if (data->n_bytes >= CHUNK_BYTES)
		return r ? r : remote_trace_append_bytes(to, data->data, data->n_bytes, d);
	chunks_append(room, data->data, data->n_bytes);
	return room->total_bytes < CHUNK_BYTES ? room->error : flush_pieces(to, room, d);
}

/* Returns true if a tool_data is the XSpace, and sets *data to its bytes. */
static bool is_xspace(const struct pb_field *tool, struct pb_field *data)
{
	struct pb_reader reader = pb_enter(tool);
	struct pb_field field;
	bool is_named = false;

	*data = (struct pb_field){.n_bytes = 0};
	while (pb_next(&reader, &field) > 0) {
		if (field.tag == PB_TAG(1, PB_LEN))
			is_named = field.n_bytes == 9 && memcmp(field.data, "xplane.pb", 9) == 0;
		else if (field.tag == PB_TAG(2, PB_LEN))
			*data = field;
	}
	return is_named;
}

/*
 * A trace comes as tool_data or as xspace. Only the form that comes first is used. xspace may come
 * in parts.
 */
static int take_trace(struct remote_profile *r, struct chunks *room, const struct pb_field *field,
	const struct pb_field *data, struct diag *d)
{
	if (r->trace_tag && (r->trace_tag != field->tag || field->tag == TOOL_DATA))
		return 0;
	r->trace_tag = field->tag;
	return append_piece(&r->trace, room, data, d);
}

/* Reads one field of a ProfileResponse. */
static int take_field(
	struct remote_profile *r, const struct pb_field *field, struct chunks *room, struct diag *d)
{
	struct pb_field data;

	if (field->tag == PB_TAG(7, PB_VARINT))
		r->is_empty = field->value != 0;
	if (field->tag == TOOL_DATA && is_xspace(field, &data))
		return take_trace(r, room, field, &data, d);
	return field->tag == XSPACE ? take_trace(r, room, field, field, d) : 0;
}

int remote_profile_feed(struct remote_profile *r, const uint8_t *reply, size_t n, struct diag *d)
{
	struct pb_reader reader = pb_reader(reply, n);
	struct chunks room = CHUNKS_INIT;
	struct pb_field field;
	int error = 0;
	int result = 0;

	while (!error && (result = pb_next(&reader, &field)) > 0)
		error = take_field(r, &field, &room, d);
	if (!error)
		error = result < 0 ? -EBADMSG : flush_pieces(&r->trace, &room, d);
	chunks_deinit(&room);
	return error;
}

static void take_xspace(struct remote_profile *r, const struct remote_trace *message)
{
	size_t n = (size_t)remote_trace_get_bytes(message);
	const uint8_t *reply = n ? spool_map(message->spool) : (const uint8_t *)"";
	struct diag d = DIAG_INIT;
	int error = reply ? remote_profile_feed(r, reply, n, &d) : -ENOMEM;

	if (error == -EBADMSG)
		remote_profile_fail(r, "its answer is no ProfileResponse");
	else if (error)
		remote_profile_fail(r, d.text[0] ? d.text : "out of memory");
	else if (!remote_trace_get_bytes(&r->trace) && !r->is_empty)
		remote_profile_fail(r, "it answered without data: it wrote to its own disk");
}

struct store {
	struct remote_trace trace;
	struct diag diag;
};

static int store_piece(const uint8_t *data, size_t n, void *context)
{
	struct store *s = context;

	return remote_trace_append_bytes(&s->trace, data, n, &s->diag);
}

static void read_outline(struct remote_profile *r)
{
	size_t n = (size_t)remote_trace_get_bytes(&r->trace);
	const uint8_t *data = n ? spool_map(r->trace.spool) : NULL;
	struct outline o = {.archive = NULL};
	struct diag d = DIAG_INIT;
	int error = data ? outline_read(&o, data, n, NULL, NULL, &d) : 0;

	if (error == -EBADMSG) {
		remote_profile_fail(r, "its answer is not a readable trace");
	} else if (data && !error) {
		r->n_events = o.n_events;
		r->start_unix_ns = o.length.start_unix_ns;
		r->stop_unix_ns = o.length.stop_unix_ns;
	}
	outline_deinit(&o);
}

/*
 * Writes the answer to a file unchanged, and then copies the XSpace from it to the trace's own
 * file.
 */
static void take_message(struct remote_profile *r)
{
	struct store message = {.trace = {.share = r->trace.share}, .diag = DIAG_INIT};
	int error = rpc_pending_read(r->call, store_piece, &message);
	bool has_more = rpc_pending_next(r->call, 0);

	if (error)
		remote_profile_fail(r, message.diag.text[0] ? message.diag.text : "out of memory");
	else
		take_xspace(r, &message.trace);
	remote_trace_drop(&message.trace);
	if (has_more)
		remote_profile_fail(r, two_messages);
	if (!r->error[0])
		read_outline(r);
}

bool remote_profile_read(struct remote_profile *r, int64_t wait_ms)
{
	if (r->call && r->ending && rpc_pending_has_ended(r->call))
		rpc_pending_wait(r->ending, wait_ms);
	if (!r->call || !rpc_pending_next(r->call, wait_ms))
		return r->call && rpc_pending_has_ended(r->call) && ask_by_old_name(r);
	if (r->is_answered)
		remote_profile_fail(r, two_messages);
	else
		take_message(r);
	r->is_answered = true;
	end_session(r);
	if (r->error[0])
		rpc_pending_cancel(r->call);
	return true;
}

bool remote_profile_is_over(const struct remote_profile *r)
{
	if (!r->call)
		return true;
	return rpc_pending_has_ended(r->call) &&
	       (!r->is_snapshot || !r->ending || rpc_pending_wait(r->ending, 0));
}

/* --- the end -------------------------------------------------------------------------------- */

static void explain_end(struct remote_profile *r)
{
	if (r->error[0])
		return;
	r->status = rpc_pending_get_status(r->call);
	if (r->status != RPC_OK)
		remote_error_format_status(r->error, sizeof r->error, r->address, r->call);
	else if (!r->is_answered)
		remote_profile_fail(r, "its answer is no ProfileResponse");
}

void remote_profile_end(struct remote_profile *r)
{
	if (!remote_profile_is_over(r))
		remote_profile_fail(r, "it did not answer in time");
	else if (r->call)
		explain_end(r);
	judge_ending(r);
	r->ending = rpc_pending_free(r->ending);
	r->call = rpc_pending_free(r->call);
	r->channel = rpc_channel_free(r->channel);
}

void remote_profile_deinit(struct remote_profile *r)
{
	r->ending = rpc_pending_free(r->ending);
	r->call = rpc_pending_free(r->call);
	r->channel = rpc_channel_free(r->channel);
	remote_trace_drop(&r->trace);
}
