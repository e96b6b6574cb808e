/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts for people about failed calls to other servers: one failure is "ADDRESS: TEXT", several are
 * "ONE; TWO; and 3 more". The texts are printable and of bounded length, even if the other server's
 * are not.
 */
#ifndef DAEMON_REMOTE_ERROR_H
#define DAEMON_REMOTE_ERROR_H

#include <stddef.h>

struct rpc_pending;

/* The client recognises this sentence, and adds no explanation to it (client/connect/failure.c). */
#define REMOTE_ERROR_BROKEN "the connection broke: the program or its profiler server died"

void remote_error_format(char *out, size_t size, const char *address, const char *text);
/*
 * Formats "ADDRESS: STATUS: TEXT" of the failed |call|, or that the connection broke. |call| has
 * ended.
 */
void remote_error_format_status(
	char *out, size_t size, const char *address, const struct rpc_pending *call);

#define REMOTE_FAILURES_MAX_BYTES 4096

/* The failures of several servers. A struct of zeros is empty. */
struct remote_failures {
	char text[REMOTE_FAILURES_MAX_BYTES]; /* "": none */
	size_t n_bytes; /* size of the complete failures in |text| */
	unsigned n_left_out;
};

/* Adds the |text| of one server, completely or not at all. */
void remote_failures_add(struct remote_failures *f, const char *text);

#endif
