/* SPDX-License-Identifier: Apache-2.0 */
/* ProfileResponse, put around an encoded XSpace without copying it. */
#ifndef DAEMON_REPLY_H
#define DAEMON_REPLY_H

#include <stddef.h>
#include <stdint.h>

/* More than 2^31-1 bytes with what is put around them no stock client can take. */
#define REPLY_MAX_XSPACE_BYTES (UINT64_C(0x7fffffff) - 256)

#define REPLY_TOOL_NAME_BYTES 288

struct capture_result;
struct delivery;
struct diag;
struct rpc_call;
struct session;

/*
 * Answers a Profile call; consumes result->delivery. With |emit_xspace| the XSpace is field 8, also when it
 * is empty (its warnings say why); without, it is tool_data "xplane.pb", which stock clients write to
 * their log directory.
 */
void reply_profile(struct rpc_call *call, struct capture_result *result, int emit_xspace);

/* One of several traces in an answer. */
struct reply_tool {
	char name
		[REPLY_TOOL_NAME_BYTES]; /* "HOST.xplane.pb", in letters that a file may have: a stock client believes it */
	struct delivery *trace; /* taken */
};

/* Answers a Profile call with a tool_data for each; the client writes each to a file HOST_PORT.NAME. 0 of them: none was recorded. */
void reply_profiles(struct rpc_call *call, struct reply_tool *tools, size_t n);

/* Stock servers say that with INTERNAL and one sentence, which stock clients know; |whose| comes behind it. */
void reply_busy(struct rpc_call *call, const char *whose);

/* Answers any call that asked for a recording with the outcome |r| of capture_run(), which is not 0. */
void reply_failure(struct rpc_call *call, int r, const struct diag *d);
/* Nobody is left to record; says so if there is something left of the past. */
void reply_gone(struct rpc_call *call, struct session *session);

#endif
