/* SPDX-License-Identifier: Apache-2.0 */
/* ProfileResponse, put around an encoded XSpace without copying it. */
#ifndef DAEMON_REPLY_H
#define DAEMON_REPLY_H

struct capture_result;
struct diag;
struct rpc_call;

/*
 * Answers a Profile call; consumes result->delivery. With |emit_xspace| the XSpace is field 8, also when it
 * is empty (its warnings say why); without, it is tool_data "xplane.pb", which stock clients write to
 * their log directory.
 */
void reply_profile(struct rpc_call *call, struct capture_result *result, int emit_xspace);

/* Answers any call that asked for a recording with the outcome |r| of capture_run(), which is not 0. */
void reply_failure(struct rpc_call *call, int r, const struct diag *d);

#endif
