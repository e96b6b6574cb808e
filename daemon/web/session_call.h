/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start and Stop (proftap.v1), asked of a program's own server. Each waits for the answer, some seconds at most. 0, or a gRPC status
 * with |d|, in the server's words. Any thread.
 */
#ifndef DAEMON_SESSION_CALL_H
#define DAEMON_SESSION_CALL_H

#include <stdint.h>

struct diag;
struct program;
struct programs;
struct session_order;

#define SESSION_CALL_NAME_BYTES 128

/*
 * Begins a session in |p|, the order's target. |name| becomes the session's name, "" where the
 * server has no names.
 */
int session_call_begin(struct programs *programs, const struct session_order *order,
	const struct program *p, char name[static SESSION_CALL_NAME_BYTES], struct diag *d);
/* Ends it; what it has is nobody's. */
int session_call_give_up(struct programs *programs, const struct session_order *order,
	const struct program *p, struct diag *d);

#endif
