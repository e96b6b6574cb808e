/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks a program's own server for Start and Stop (proftap.v1). Each waits for the answer, some
 * seconds at most. 0, or a gRPC status with |d|, in the server's words. Threads: any.
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
/* Ends the session and discards its data. */
int session_call_give_up(struct programs *programs, const struct session_order *order,
	const struct program *p, struct diag *d);

#endif
