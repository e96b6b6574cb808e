/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to calls of proftap.v1 that are no traces; no stock client expects words of its own here. */
#ifndef DAEMON_REPLY_V1_H
#define DAEMON_REPLY_V1_H

struct diag;
struct rpc_call;
struct session;

/* The session did not take the request: |r| is SESSION_BUSY or so. */
void reply_v1_refusal(struct rpc_call *call, struct session *session, int r);
/*
 * The outcome |r| of capture_run(), which is not 0, or -EINVAL: something is wrong with the request, and |d| says what. |d| may
 * be NULL with -ENOMEM.
 */
void reply_v1_failure(struct rpc_call *call, int r, const struct diag *d);

#endif
