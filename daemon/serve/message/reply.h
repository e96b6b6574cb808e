/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers to calls: small messages, ProfileResponses around encoded XSpaces, which are not copied,
 * and failures. Traces of proftap.v1 are streams (trace_stream.h).
 */
#ifndef DAEMON_REPLY_H
#define DAEMON_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Together with the fields around it, a response then has at most 2^31-1 bytes, the limit of stock
 * clients.
 */
#define REPLY_MAX_XSPACE_BYTES (UINT64_C(0x7fffffff) - 256)

#define REPLY_TOOL_NAME_BYTES 288

struct ProtobufCMessage;
struct capture_result;
struct chunks;
struct delivery;
struct diag;
struct rpc_call;
struct session;

/* Small messages. */

/* Appends the bytes of |message| to |to|, which keeps the error. */
void reply_message_append(struct chunks *to, const struct ProtobufCMessage *message);
/* Answers |call| with |message|, or RESOURCE_EXHAUSTED when there is no memory for its bytes. */
void reply_message(struct rpc_call *call, const struct ProtobufCMessage *message);
/* Answers |call| with a message without fields. */
void reply_empty(struct rpc_call *call);
/* Answers |call| with RESOURCE_EXHAUSTED because the server is out of memory. */
void reply_no_memory(struct rpc_call *call);

/* Traces for calls of tensorflow.ProfilerService. */

/*
 * Answers a Profile call; consumes result->delivery. With |emit_xspace| the XSpace is field 8, even
 * if it is empty, because its warnings say why; otherwise it is tool_data "xplane.pb", which stock
 * clients write to their log directory.
 */
void reply_profile(struct rpc_call *call, struct capture_result *result, bool emit_xspace);

/* One of several traces in an answer. */
struct reply_tool {
	/*
	 * "HOSTNAME_NAME_PID.xplane.pb". It must be safe as a file name: stock clients do not
	 * check it.
	 */
	char name[REPLY_TOOL_NAME_BYTES];
	struct delivery *trace; /* taken */
};

/*
 * Answers a Profile call with one tool_data per trace; the client writes each to a file
 * HOST_PORT.NAME (the address it called). An answer without any means that nothing was recorded.
 */
void reply_profiles(struct rpc_call *call, struct reply_tool *tools, size_t n);

/* Failures. */

/*
 * Answers that another session runs, with the stock server's status and sentence, which stock
 * clients recognise. |whose| is added after the sentence.
 */
void reply_busy(struct rpc_call *call, const char *whose);
/* Answers with the outcome |r| of capture_run(), which is not 0. */
void reply_failure(struct rpc_call *call, int r, const struct diag *d);
/* Answers that the program has ended, and, if its data is held, how a client can get that data. */
void reply_gone(struct rpc_call *call, struct session *session);

/* Failures of calls of proftap.v1, whose texts are different. */

/* Answers with |r|, the session's refusal of the request, such as SESSION_BUSY. */
void reply_v1_refusal(struct rpc_call *call, struct session *session, int r);
/*
 * Answers with the outcome |r| of capture_run(), which is not 0, or with -EINVAL, which |d|
 * explains. |d| may be NULL if |r| is -ENOMEM.
 */
void reply_v1_failure(struct rpc_call *call, int r, const struct diag *d);

#endif
