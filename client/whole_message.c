/* SPDX-License-Identifier: Apache-2.0 */
/* Whole messages; see whole_message.h. */
#include "client/whole_message.h"

#include "client/dial.h"
#include "rpc/client.h"

/* gRPC reads while it is waited for; in this time a fast network brings some tens of MB. */
#define SLICE_MS 20
/* Of a message that is not whole; the window of a stream, 8 MiB, can be full of others that were not read yet. */
#define MAX_BYTES (16 << 20)

static bool is_too_large(const struct whole_message *w)
{
	return dial_get_received_bytes(w->fd) - w->before_bytes > MAX_BYTES;
}

bool whole_message_wait(struct whole_message *w, struct rpc_pending *call, int64_t wait_ms)
{
	for (;;) {
		int64_t slice_ms = wait_ms < SLICE_MS ? wait_ms : SLICE_MS;

		if (rpc_pending_next(call, slice_ms)) {
			w->before_bytes = dial_get_received_bytes(w->fd);
			return true;
		}
		wait_ms -= slice_ms;
		if (rpc_pending_has_ended(call))
			return false;
		if (is_too_large(w))
			rpc_pending_refuse_large(call);
		if (wait_ms <= 0)
			return false;
	}
}
