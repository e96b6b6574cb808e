/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The failure of a call to another server as a text for people: "ADDRESS: TEXT". It is printable
 * and of bounded length, whatever that server said.
 */
#ifndef DAEMON_REMOTE_ERROR_H
#define DAEMON_REMOTE_ERROR_H

#include <stddef.h>

struct rpc_pending;

/* The client knows this sentence and adds none (client/connect/failure.c). */
#define REMOTE_ERROR_BROKEN "the connection broke: the program or its profiler server died"

void remote_error_format(char *out, size_t size, const char *address, const char *text);
/* "ADDRESS: STATUS: its text", or that the connection broke. |call| has ended. */
void remote_error_format_status(
	char *out, size_t size, const char *address, const struct rpc_pending *call);

#endif
