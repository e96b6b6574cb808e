/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How peers behave, connection by connection. gRPC 1.51 takes in every stream that a peer opens, 13 KiB each, also
 * when the peer resets it in the same breath or never acknowledged the limit on streams: a peer that does so is hung
 * up on. Everything here is for the server's thread.
 */
#ifndef RPC_CONDUCT_H
#define RPC_CONDUCT_H

#include <stddef.h>
#include <stdint.h>

struct grpc_call;
struct peer_conduct;

/* Zero is the state of a server without connections. */
struct conduct {
	struct peer_conduct *peers; /* by descriptor */
	size_t n_peers;
};

void conduct_deinit(struct conduct *c);

/* The connection of |call|, for the functions below; -1 when it is not known. */
int conduct_find_connection(struct grpc_call *call);

/*
 * A call arrived, ended, was given up by its peer before it was answered. Each call that arrived must also end; the
 * connection stays valid until then. They hang up on the peer when it has gone too far.
 */
void conduct_note_arrival(struct conduct *c, int connection);
void conduct_note_end(struct conduct *c, int connection);
void conduct_note_given_up(struct conduct *c, int connection, int64_t now_ns);

#endif
