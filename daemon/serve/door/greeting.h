/* SPDX-License-Identifier: Apache-2.0 */
/* The first bytes of a client: whether it speaks HTTP/2, which gRPC does, or something else. */
#ifndef DAEMON_GREETING_H
#define DAEMON_GREETING_H

#include <stddef.h>
#include <stdint.h>

#define GREETING_BYTES 24 /* RFC 9113 3.4 */

enum greeting {
	GREETING_HTTP2, /* also as much of it as there is */
	GREETING_HTTP1, /* a request line */
	GREETING_NOTICE, /* of a child's server; see notice.h */
	GREETING_OTHER, /* TLS, and anything else */
};

/* What a notice begins with. */
extern const char greeting_notice[GREETING_BYTES + 1];

/* |n| is at least 1. */
enum greeting greeting_judge(const uint8_t *bytes, size_t n);

/* What a client of HTTP/1 is answered: why it is hung up on, and what to use instead. */
extern const char greeting_http1_answer[];

#endif
