/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a call failed although somebody accepted the connection: connects once more and finds out
 * who that is, from what it answers to the beginning of an HTTP/2 conversation.
 */
#ifndef CLIENT_PROBE_H
#define CLIENT_PROBE_H

#include <stddef.h>

struct address;

enum probe_result {
	PROBE_HTTP2, /* a SETTINGS frame came back: gRPC may well live there */
	PROBE_OTHER, /* it spoke, but not HTTP/2 */
	PROBE_TLS, /* it wants TLS */
	PROBE_CLOSED, /* it closed the connection without a word */
	PROBE_SILENT, /* nothing within a second */
	PROBE_GONE, /* the connection failed */
};

#define PROBE_WAIT_MS 1000

/* |said| gets the first printable bytes of PROBE_OTHER, on one line, else "". */
enum probe_result probe(const struct address *address, char *said, size_t n);

/* What the first |n_bytes| bytes from a peer tell; PROBE_SILENT: too few yet. */
enum probe_result probe_judge(const unsigned char *bytes, size_t n_bytes);

#endif
