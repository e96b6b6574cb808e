/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that go from a call that we make to one that we answer, in the slices in which they came: nothing is copied. */
#ifndef RPC_RELAY_H
#define RPC_RELAY_H

#include <stdint.h>

struct rpc_call;
struct rpc_pending;

/*
 * Sends the message that is there at |from| (rpc_pending_next()), which has none then, as rpc_call_write() does, and with its
 * errors; -ENODATA when there is none.
 */
int rpc_relay_message(struct rpc_call *to, struct rpc_pending *from, int64_t timeout_ms);

/* Ends |to|, a stream, as |from| has ended: with its status and text. |to| is invalid then. */
void rpc_relay_end(struct rpc_call *to, struct rpc_pending *from);

/* Answers |to|, a unary call, with the reply of |from|, which has ended: its message, or its status and text. |to| is invalid then. */
void rpc_relay_reply(struct rpc_call *to, struct rpc_pending *from);

#endif
