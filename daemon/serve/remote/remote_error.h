/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures of calls to other servers as texts for people: one is "ADDRESS: TEXT", several are
 * "ONE; TWO; and 3 more". They are printable and of bounded length, whatever those servers said.
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

#define REMOTE_FAILURES_MAX_BYTES 4096

/* The failures of several servers. All zero is the empty state. */
struct remote_failures {
	char text[REMOTE_FAILURES_MAX_BYTES]; /* "": none */
	size_t n_bytes; /* of the failures that are whole in |text| */
	unsigned n_left_out;
};

/* Adds the |text| of one server: whole, or not at all. */
void remote_failures_add(struct remote_failures *f, const char *text);

#endif
