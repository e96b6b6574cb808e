/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connections that gRPC was given and has not closed yet. It calls an answer sent when the socket has it; whether
 * the peer has it, only the socket tells.
 */
#ifndef RPC_ADOPTED_H
#define RPC_ADOPTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Zeroed: none. One thread at a time. */
struct adopted {
	struct adopted_socket *sockets;
	size_t n;
	size_t n_allocated;
};

/* Remembers |fd|, which stays the caller's. 0 or -ENOMEM. */
int adopted_add(struct adopted *a, int fd);

/*
 * Whether one holds bytes that its peer's kernel has not taken. *n_moved grows by what peers took since the last look, roughly: what
 * came into a socket meanwhile may count, too, and that needs room that a peer made.
 */
bool adopted_is_sending(struct adopted *a, uint64_t *n_moved);

/* Ends the connections for gRPC and for the peers, who may lose what they have not taken. */
void adopted_hang_up(struct adopted *a);

void adopted_deinit(struct adopted *a);

#endif
