/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connects once more after a call that failed although the connection was accepted, and finds out
 * what listens there by its answer to the beginning of an HTTP/2 conversation.
 */
#ifndef CLIENT_PROBE_H
#define CLIENT_PROBE_H

#include <stddef.h>

struct address;

enum probe_result {
	PROBE_HTTP2, /* the peer sent a SETTINGS frame, so it may be a gRPC server */
	PROBE_OTHER, /* it sent something that is not HTTP/2 */
	PROBE_TLS, /* it requires TLS */
	PROBE_CLOSED, /* it closed the connection without a word */
	PROBE_SILENT, /* it sent nothing within a second */
	PROBE_GONE, /* the connection failed */
};

#define PROBE_WAIT_MS 1000

/* PROBE_OTHER: |said| gets the first line, with dots for unprintable bytes. Others: "". */
enum probe_result probe(const struct address *address, char *said, size_t n);

/* Judges the first |n_bytes| bytes from a peer; PROBE_SILENT: they are too few. */
enum probe_result probe_judge(const unsigned char *bytes, size_t n_bytes);

#endif
