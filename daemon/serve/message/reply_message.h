/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that are one message, small enough to be encoded in one go. */
#ifndef DAEMON_REPLY_MESSAGE_H
#define DAEMON_REPLY_MESSAGE_H

struct ProtobufCMessage;
struct chunks;
struct rpc_call;

/* Appends the bytes of |message| to |to|, which keeps the error. */
void reply_message_append(struct chunks *to, const struct ProtobufCMessage *message);

/* Answers |call| with |message|, or RESOURCE_EXHAUSTED when there is no memory for its bytes. */
void reply_message(struct rpc_call *call, const struct ProtobufCMessage *message);
/* The same of a message without fields. */
void reply_empty(struct rpc_call *call);
/* RESOURCE_EXHAUSTED: there is no memory to find the answer. */
void reply_no_memory(struct rpc_call *call);

#endif
