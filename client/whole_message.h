/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The next message of a stream. gRPC gives a message to its reader when it is whole, and lets as much come as it says that it
 * has, 4 GiB for one; so what has come is looked at meanwhile, and one that is too large is refused before it is here.
 */
#ifndef CLIENT_WHOLE_MESSAGE_H
#define CLIENT_WHOLE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

struct rpc_pending;

struct whole_message {
	int fd; /* the connection's, to count by */
	int64_t before_bytes; /* that had come when the last one was whole; 0 at first */
};

/* As rpc_pending_next(). Where bytes cannot be counted, on a unix socket, the message is refused once it is here. */
bool whole_message_wait(struct whole_message *w, struct rpc_pending *call, int64_t wait_ms);

#endif
