/* SPDX-License-Identifier: Apache-2.0 */
/* The first bytes of a client: whether it speaks HTTP/2, which gRPC does, or something else. */
#ifndef DAEMON_GREETING_H
#define DAEMON_GREETING_H

#include <stddef.h>
#include <stdint.h>

#define GREETING_BYTES 24 /* RFC 9113 3.4 */

enum greeting {
	GREETING_HTTP2, /* its preface or a part */
	GREETING_HTTP1, /* a request line */
	GREETING_NOTICE, /* a child's server announces itself; see registry.h */
	GREETING_OTHER, /* TLS, and anything else */
};

/* The first bytes of a notice. */
extern const char greeting_notice[GREETING_BYTES + 1];

/* |n| is at least 1. */
enum greeting greeting_judge(const uint8_t *bytes, size_t n);

/*
 * The answer to a client of HTTP/1: the reason for the hang-up, and the protocol that it must use.
 */
extern const char greeting_http1_answer[];

#endif
