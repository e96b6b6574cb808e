/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits on what a peer may do, connection by connection. gRPC 1.51 accepts every stream that a
 * peer opens, at 13 KiB each, even if the peer resets it immediately or never acknowledged the
 * limit on streams. The server hangs up on peers that exceed the limits below. Everything here is
 * for the server's thread.
 */
#ifndef RPC_PEER_LIMITS_H
#define RPC_PEER_LIMITS_H

#include <stddef.h>
#include <stdint.h>

struct grpc_call;
struct peer_limit;

/* Zero is the state of a server without connections. */
struct peer_limits {
	struct peer_limit *peers; /* indexed by descriptor */
	size_t n_peers;
};

void peer_limits_deinit(struct peer_limits *c);

/* Returns the connection of |call|, for the functions below; -1 when it is not known. */
int peer_limits_find_connection(struct grpc_call *call);

/*
 * A call arrived, ended, or was given up by its peer before it was answered. Each call that arrived
 * must also end; the connection stays valid until then. These functions hang up on a peer that
 * exceeds a limit.
 */
void peer_limits_note_arrival(struct peer_limits *c, int connection);
void peer_limits_note_end(struct peer_limits *c, int connection);
void peer_limits_note_given_up(struct peer_limits *c, int connection, int64_t now_ns);

#endif
