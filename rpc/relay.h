/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes messages on from a call that we make to one that we answer, in gRPC's own slices, without
 * a copy.
 */
#ifndef RPC_RELAY_H
#define RPC_RELAY_H

#include <stdint.h>

struct rpc_call;
struct rpc_pending;

/*
 * Sends the message of |from| (rpc_pending_next()), which then has none, as rpc_call_write() does,
 * with the same errors; -ENODATA when there is none.
 */
int rpc_relay_message(struct rpc_call *to, struct rpc_pending *from, int64_t timeout_ms);

/*
 * Ends the stream |to| with the status and text of |from|, which has ended. |to| is invalid
 * afterwards.
 */
void rpc_relay_end(struct rpc_call *to, struct rpc_pending *from);

/*
 * Answers the unary call |to| with the message, or the status and text, of |from|, which has ended.
 * |to| is invalid afterwards.
 */
void rpc_relay_reply(struct rpc_call *to, struct rpc_pending *from);

#endif
