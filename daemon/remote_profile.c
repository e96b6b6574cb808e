/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of other servers; see remote_profile.h. */
#include "daemon/remote_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/delivery.h"
#include "daemon/remote_error.h"
#include "rpc/client.h"
#include "rpc/server.h"
#include "trace/pbwire.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

#define PROFILE "/tensorflow.ProfilerService/Profile"
/* Of one answer, which is in memory as a whole. */
#define MAX_REPLY_BYTES (UINT64_C(512) << 20)

void remote_profile_fail(struct remote_profile *r, const char *text)
{
	remote_error_format(r->error, sizeof r->error, r->address, text);
}

void remote_profile_start(struct remote_profile *r, const char *address, const uint8_t *bytes,
	size_t n, int64_t timeout_ms)
{
	struct rpc_request request = {
		.path = PROFILE,
		.message = bytes,
		.message_bytes = n,
		.timeout_ms = timeout_ms,
		.max_reply_bytes = MAX_REPLY_BYTES,
	};
	struct diag d = DIAG_INIT;

	snprintf(r->address, sizeof r->address, "%s", address);
	r->channel = rpc_channel_new_to(r->address);
	if (!r->channel)
		remote_profile_fail(r, "out of memory");
	else if (rpc_call_start(r->channel, &request, &r->pending, &d))
		remote_profile_fail(r, d.text);
}

int remote_profile_wait(struct remote_profile *r, int64_t wait_ms)
{
	return !r->pending || rpc_pending_wait(r->pending, wait_ms);
}

/* tool_data, if it is the XSpace: its bytes go to |out|. */
static void take_tool(const struct pb_field *tool, struct chunks *out)
{
	struct pb_reader reader = pb_enter(tool);
	struct pb_field field;
	struct pb_field data = {.n_bytes = 0};
	int is_xspace = 0;

	while (pb_next(&reader, &field) > 0) {
		if (field.tag == PB_TAG(1, PB_LEN))
			is_xspace = field.n_bytes == 9 && memcmp(field.data, "xplane.pb", 9) == 0;
		else if (field.tag == PB_TAG(2, PB_LEN))
			data = field;
	}
	if (is_xspace)
		chunks_append(out, data.data, data.n_bytes);
}

static int parse_reply(struct remote_profile *r, const uint8_t *reply, size_t n, struct chunks *out)
{
	struct pb_reader reader = pb_reader(reply, n);
	struct pb_field field;
	int result;

	while ((result = pb_next(&reader, &field)) > 0) {
		if (field.tag == PB_TAG(6, PB_LEN))
			take_tool(&field, out);
		else if (field.tag == PB_TAG(7, PB_VARINT))
			r->is_empty = field.value != 0;
		else if (field.tag == PB_TAG(8, PB_LEN))
			chunks_append(out, field.data, field.n_bytes);
	}
	return result;
}

static void read_reply(struct remote_profile *r)
{
	size_t n = rpc_pending_get_bytes(r->pending);
	_cleanup_free_ uint8_t *reply = malloc(n + 1);
	struct chunks xspace = CHUNKS_INIT;

	if (!reply)
		remote_profile_fail(r, "out of memory");
	else if (rpc_pending_copy(r->pending, reply, n, &n) || parse_reply(r, reply, n, &xspace))
		remote_profile_fail(r, "its answer is no ProfileResponse");
	else if (xspace.total_bytes == 0 && !r->is_empty)
		remote_profile_fail(r, "it answered without data: it wrote to its own disk");
	else if (delivery_new_from_chunks(&xspace, &r->trace))
		remote_profile_fail(r, "out of memory");
	chunks_deinit(&xspace);
}

void remote_profile_end(struct remote_profile *r)
{
	if (!remote_profile_wait(r, 0)) {
		rpc_pending_cancel(r->pending);
		remote_profile_fail(r, "it did not answer in time");
	} else if (r->pending && rpc_pending_get_status(r->pending) == RPC_OK) {
		read_reply(r);
	} else if (r->pending) {
		remote_error_format_status(r->error, sizeof r->error, r->address, r->pending);
	}
	r->pending = rpc_pending_free(r->pending);
	r->channel = rpc_channel_free(r->channel);
}

void remote_profile_deinit(struct remote_profile *r)
{
	r->pending = rpc_pending_free(r->pending);
	r->channel = rpc_channel_free(r->channel);
	r->trace = delivery_free(r->trace);
}
