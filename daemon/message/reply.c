/* SPDX-License-Identifier: Apache-2.0 */
/* ProfileResponse; see reply.h. Field numbers: proto/tsl/profiler/protobuf/profiler_service.proto. */
#include "daemon/message/reply.h"

#include <errno.h>
#include <string.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "daemon/assembly/delivery.h"
#include "daemon/recording/capture.h"
#include "daemon/session/recorder_end.h"
#include "daemon/session/session.h"
#include "rpc/server.h"
#include "trace/pbwire.h"

#define TAG_TOOL_DATA PB_TAG(6, PB_LEN) /* ProfileResponse.tool_data */
#define FIELD_EMPTY_TRACE 7 /* ProfileResponse.empty_trace */
#define TAG_XSPACE PB_TAG(8, PB_LEN) /* ProfileResponse.xspace */
#define TAG_TOOL_NAME PB_TAG(1, PB_LEN) /* ProfileToolData.name */
#define TAG_TOOL_BYTES PB_TAG(2, PB_LEN) /* ProfileToolData.data */

static const char tool_name[] = "xplane.pb";
static const char no_memory[] = "the profiler server is out of memory; record less";

/* "name", and the head of "data" that |n_bytes| follow. Returns the end. */
static uint8_t *put_tool(uint8_t *p, uint64_t n_bytes)
{
	p = pb_put_varint(p, TAG_TOOL_NAME);
	p = pb_put_varint(p, sizeof tool_name - 1);
	p = mempcpy(p, tool_name, sizeof tool_name - 1);
	p = pb_put_varint(p, TAG_TOOL_BYTES);
	return pb_put_varint(p, n_bytes);
}

/* Everything of the response that comes before the XSpace's bytes; none: it is elsewhere. Returns the end. */
static uint8_t *put_head(uint8_t *p, uint64_t n_bytes, int is_empty, int emit_xspace)
{
	uint8_t tool[64];
	size_t n_tool = (size_t)(put_tool(tool, n_bytes) - tool);

	if (is_empty)
		p = pb_put_uint(p, FIELD_EMPTY_TRACE, 1);
	if (emit_xspace) {
		p = pb_put_varint(p, TAG_XSPACE);
		p = pb_put_varint(p, n_bytes);
	} else if (!is_empty && n_bytes) {
		p = pb_put_varint(p, TAG_TOOL_DATA);
		p = pb_put_varint(p, n_tool + n_bytes);
		p = mempcpy(p, tool, n_tool);
	}
	return p;
}

void reply_profile(struct rpc_call *call, struct capture_result *result, int emit_xspace)
{
	struct chunks message = CHUNKS_INIT;
	uint8_t head[160];
	uint8_t *end =
		put_head(head, delivery_get_bytes(result->delivery), result->is_empty, emit_xspace);

	chunks_append(&message, head, (size_t)(end - head));
	if (result->delivery && (emit_xspace || !result->is_empty))
		delivery_take_chunks(result->delivery, &message);
	result->delivery = delivery_free(result->delivery);
	if (message.error) {
		chunks_deinit(&message);
		rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED, no_memory);
		return;
	}
	rpc_call_reply(call, &message);
	capture_result_note_taken(result);
}

/* Stock servers say the first sentence, and stock clients know it; ours quotes the rest. */
static void fail_busy(struct rpc_call *call, const char *whose)
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
		fail_busy(call, d->text);
		break;
	case -ENOMEM:
		rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED, no_memory);
		break;
	default:
		rpc_call_fail(call, RPC_UNAVAILABLE, d->text);
		break;
	}
}

static const char held_text[] =
	"the program has ended; proftap snapshot takes what its flight recorder held";

void reply_gone(struct rpc_call *call, const struct session *session)
{
	rpc_call_fail(
		call, RPC_UNAVAILABLE, recorder_end_holds(session) ? held_text : session_gone_text);
}
