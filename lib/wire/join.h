/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A forked child joins its ancestor's server (docs/internals/follow_fork.md) with one message each
 * way on an abstract SOCK_SEQPACKET socket, whose name and secret are in the arena that the child
 * inherited. The request brings one descriptor, the child's own sealed arena with a filled head.
 */
#ifndef WIRE_JOIN_H
#define WIRE_JOIN_H

#include <stdint.h>

#define JOIN_MAGIC 0x6a617431u /* "1taj" in memory */
#define JOIN_VERSION 1u
/* with the terminator; the socket's name is a zero byte and then this text */
#define JOIN_NAME_BYTES 40
#define JOIN_SECRET_BYTES 16
/*
 * The timeout of a child, in the middle of its first annotation, while the server answers nobody. A
 * dead server is detected at once, so this is for a live but slow server: on a loaded machine an
 * answer takes seconds. After one child has timed out, and as long as the server has answered no
 * other child since, children wait for the short time: with a stopped server a prefork program must
 * not pay the long time for each child. While the server answers others a child waits on.
 */
#define JOIN_TIMEOUT_MS 5000
#define JOIN_SHORT_TIMEOUT_MS 1000
/* The limit on waits, even if the server keeps answering others. */
#define JOIN_MAX_WAITS 12

struct join_request {
	uint32_t magic;
	uint32_t version;
	int32_t pid; /* in the child's pid namespace */
	uint8_t secret[JOIN_SECRET_BYTES];
};

struct join_answer {
	int32_t result; /* 0 or a negative errno */
	uint32_t is_recording; /* 1: a recording runs; the server sends START before the hello */
};

#endif
