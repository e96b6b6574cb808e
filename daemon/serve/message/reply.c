/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers; see reply.h. Field numbers of ProfileResponse:
 * proto/tsl/profiler/protobuf/profiler_service.proto.
 */
#include "daemon/serve/message/reply.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <protobuf-c/protobuf-c.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/session/recorder_end.h"
#include "daemon/serve/session/session.h"
#include "rpc/server.h"
#include "trace/xspace/pbwire.h"

/* --- small messages ------------------------------------------------------------------------- */

void reply_message_append(struct chunks *to, const ProtobufCMessage *message)
{
	size_t n = protobuf_c_message_get_packed_size(message);
	uint8_t *p = chunks_reserve(to, n);

	if (p)
		chunks_commit(to, protobuf_c_message_pack(message, p));
}

void reply_message(struct rpc_call *call, const ProtobufCMessage *message)
{
	struct chunks bytes = CHUNKS_INIT;

	reply_message_append(&bytes, message);
	rpc_call_reply(call, &bytes);
}

void reply_empty(struct rpc_call *call)
{
	struct chunks none = CHUNKS_INIT;

	rpc_call_reply(call, &none);
}

void reply_no_memory(struct rpc_call *call)
{
	rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED, "the profiler server is out of memory");
}

/* --- traces --------------------------------------------------------------------------------- */

#define TAG_TOOL_DATA PB_TAG(6, PB_LEN) /* ProfileResponse.tool_data */
#define FIELD_EMPTY_TRACE 7 /* ProfileResponse.empty_trace */
#define TAG_XSPACE PB_TAG(8, PB_LEN) /* ProfileResponse.xspace */
#define TAG_TOOL_NAME PB_TAG(1, PB_LEN) /* ProfileToolData.name */
#define TAG_TOOL_BYTES PB_TAG(2, PB_LEN) /* ProfileToolData.data */

static const char xplane[] = "xplane.pb"; /* the client names the file: HOST_PORT.xplane.pb */
static const char no_memory[] = "the profiler server is out of memory; record less";

/* Encodes "name" and the head of "data"; the |n_bytes| of data follow. Returns the end. */
static uint8_t *put_tool_inside(uint8_t *p, const char *name, uint64_t n_bytes)
{
	size_t n_name = strlen(name);

	p = pb_put_varint(p, TAG_TOOL_NAME);
	p = pb_put_varint(p, n_name);
	p = mempcpy(p, name, n_name);
	p = pb_put_varint(p, TAG_TOOL_BYTES);
	return pb_put_varint(p, n_bytes);
}

/* Encodes a tool_data except for the |n_bytes| that follow. Returns the end. */
static uint8_t *put_tool(uint8_t *p, const char *name, uint64_t n_bytes)
{
	uint8_t tool[REPLY_TOOL_NAME_BYTES + 32];
	size_t n_tool = (size_t)(put_tool_inside(tool, name, n_bytes) - tool);

	p = pb_put_varint(p, TAG_TOOL_DATA);
	p = pb_put_varint(p, n_tool + n_bytes);
	return mempcpy(p, tool, n_tool);
}

/*
 * Encodes the part of the response before the XSpace, whose |n_bytes| are 0 if it is written to a
 * file instead. Returns the end.
 */
static uint8_t *put_head(uint8_t *p, uint64_t n_bytes, bool is_empty, bool emit_xspace)
{
	if (is_empty)
		p = pb_put_uint(p, FIELD_EMPTY_TRACE, 1);
	if (emit_xspace) {
		p = pb_put_varint(p, TAG_XSPACE);
		p = pb_put_varint(p, n_bytes);
	} else if (!is_empty && n_bytes) {
		p = put_tool(p, xplane, n_bytes);
	}
	return p;
}

/* Consumes |message|. 0, or -1: out of memory, and the call was answered with that. */
static int send_reply(struct rpc_call *call, struct chunks *message)
{
	if (message->error) {
		chunks_deinit(message);
		rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED, no_memory);
		return -1;
	}
	rpc_call_reply(call, message);
	return 0;
}

void reply_profile(struct rpc_call *call, struct capture_result *result, bool emit_xspace)
{
	struct chunks message = CHUNKS_INIT;
	uint8_t head[160];
	uint8_t *end =
		put_head(head, delivery_get_bytes(result->delivery), result->is_empty, emit_xspace);

	chunks_append(&message, head, (size_t)(end - head));
	if (result->delivery && (emit_xspace || !result->is_empty))
		delivery_take_chunks(result->delivery, &message);
	result->delivery = delivery_free(result->delivery);
	if (!send_reply(call, &message))
		capture_result_note_taken(result);
}

void reply_profiles(struct rpc_call *call, struct reply_tool *tools, size_t n)
{
	struct chunks message = CHUNKS_INIT;
	uint8_t head[2 * REPLY_TOOL_NAME_BYTES];

	for (size_t i = 0; i < n; i++) {
		uint8_t *end = put_tool(head, tools[i].name, delivery_get_bytes(tools[i].trace));

		chunks_append(&message, head, (size_t)(end - head));
		delivery_take_chunks(tools[i].trace, &message);
		tools[i].trace = delivery_free(tools[i].trace);
	}
	send_reply(call, &message);
}

/* --- failures ------------------------------------------------------------------------------- */

void reply_busy(struct rpc_call *call, const char *whose)
{
	rpc_call_fail_with(call, RPC_INTERNAL, "Another profiling session active. %s", whose);
}

void reply_failure(struct rpc_call *call, int r, const struct diag *d)
{
	switch (r) {
	case CAPTURE_CANCELLED:
		rpc_call_fail(call, RPC_CANCELLED, "the client went away");
		break;
	case CAPTURE_NO_TARGET:
		rpc_call_fail(call, RPC_UNAVAILABLE, session_gone_text);
		break;
	case CAPTURE_BUSY:
		reply_busy(call, d->text);
		break;
	case -ENOMEM:
		rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED, no_memory);
		break;
	default:
		rpc_call_fail(call, RPC_UNAVAILABLE, d->text);
		break;
	}
}

static const char held_text[] = "the program has ended; proftap snapshot gets its recorded data";

void reply_gone(struct rpc_call *call, struct session *session)
{
	rpc_call_fail(
		call, RPC_UNAVAILABLE, recorder_end_holds(session) ? held_text : session_gone_text);
}

/* --- failures of proftap.v1 ----------------------------------------------------------------- */

static void fail_v1_busy(struct rpc_call *call, const char *whose)
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
		"the program traces itself: only the program can end that trace"},
	{SESSION_NO_RECORDER, RPC_NOT_FOUND,
		"neither a continuous session nor a flight recorder runs"},
	{SESSION_RECORDER_ON, RPC_ALREADY_EXISTS, "the flight recorder is on already"},
	{SESSION_NO_LAST, RPC_FAILED_PRECONDITION,
		"last_ms: a continuous session runs, and no flight recorder"},
	{SESSION_FULL, RPC_RESOURCE_EXHAUSTED, "too many snapshots were requested at a time"},
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
		fail_v1_busy(call, whose);
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
		fail_v1_busy(call, d->text);
		break;
	case -EINVAL:
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, d->text);
		break;
	default:
		reply_failure(call, r, d);
		break;
	}
}
