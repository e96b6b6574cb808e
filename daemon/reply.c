/* SPDX-License-Identifier: Apache-2.0 */
/* ProfileResponse; see reply.h. Field numbers: proto/tsl/profiler/protobuf/profiler_service.proto. */
#include "daemon/reply.h"

#include <string.h>

#include "base/chunks.h"
#include "daemon/capture.h"
#include "rpc/server.h"

#define TAG_TOOL_DATA (6 << 3 | 2) /* ProfileResponse.tool_data */
#define TAG_EMPTY_TRACE (7 << 3 | 0) /* ProfileResponse.empty_trace */
#define TAG_XSPACE (8 << 3 | 2) /* ProfileResponse.xspace */
#define TAG_TOOL_NAME (1 << 3 | 2) /* ProfileToolData.name */
#define TAG_TOOL_BYTES (2 << 3 | 2) /* ProfileToolData.data */

static const char tool_name[] = "xplane.pb";

static size_t put_varint(uint8_t *to, uint64_t value)
{
	size_t n = 0;

	while (value >= 0x80) {
		to[n++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	to[n++] = (uint8_t)value;
	return n;
}

/* "name", and the head of "data" that |n_bytes| follow. */
static size_t put_tool(uint8_t *to, uint64_t n_bytes)
{
	size_t n = 0;

	to[n++] = TAG_TOOL_NAME;
	n += put_varint(to + n, sizeof tool_name - 1);
	memcpy(to + n, tool_name, sizeof tool_name - 1);
	n += sizeof tool_name - 1;
	to[n++] = TAG_TOOL_BYTES;
	n += put_varint(to + n, n_bytes);
	return n;
}

/* Everything of the response that comes before the XSpace's bytes. */
static size_t put_head(uint8_t *to, uint64_t n_bytes, int is_empty, int emit_xspace)
{
	uint8_t tool[64];
	size_t n_tool = put_tool(tool, n_bytes);
	size_t n = 0;

	if (is_empty) {
		to[n++] = TAG_EMPTY_TRACE;
		to[n++] = 1;
	}
	if (emit_xspace) {
		to[n++] = TAG_XSPACE;
		n += put_varint(to + n, n_bytes);
	} else if (!is_empty) {
		to[n++] = TAG_TOOL_DATA;
		n += put_varint(to + n, n_tool + n_bytes);
		memcpy(to + n, tool, n_tool);
		n += n_tool;
	}
	return n;
}

void reply_profile(struct rpc_call *call, struct capture_result *result, int emit_xspace)
{
	struct chunks message = CHUNKS_INIT;
	uint8_t head[160];
	size_t n = put_head(head, result->xspace.total_bytes, result->is_empty, emit_xspace);

	chunks_append(&message, head, n);
	if (emit_xspace || !result->is_empty)
		chunks_take(&message, &result->xspace);
	chunks_deinit(&result->xspace);
	if (message.error) {
		chunks_deinit(&message);
		rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED,
			"the profiler server is out of memory; record less");
		return;
	}
	rpc_call_reply(call, &message);
}
