/* SPDX-License-Identifier: Apache-2.0 */
/* The request of a forked child to join: a message and a descriptor, both checked. */
#ifndef DAEMON_JOIN_REQUEST_H
#define DAEMON_JOIN_REQUEST_H

#include "lib/wire/join.h"

/*
 * Reads a request and the descriptor that comes with it from the socket |fd|. Owner: *memfd_out, on
 * success, is the caller's. 0, -EAGAIN, or a negative errno for one that is not as it should be.
 */
int join_request_read(int fd, const uint8_t secret[JOIN_SECRET_BYTES], struct join_request *request,
	int *memfd_out);

#endif
