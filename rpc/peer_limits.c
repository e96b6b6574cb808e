/* SPDX-License-Identifier: Apache-2.0 */
/* Limits on peers; see peer_limits.h. */
#include "rpc/peer_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <grpc/grpc.h>
#include <grpc/support/alloc.h>

#include "base/clock.h"
#include "base/grow.h"
#include "rpc/socket.h"

/* Higher than the limit on streams that well-behaved clients are told and keep to. */
#define MAX_OPEN_CALLS 64
/* A peer may give up this many calls at once, and one more in each interval. */
#define GIVEN_UP_BURST 64
#define GIVEN_UP_INTERVAL_NS (NS_PER_S / 10)

struct peer_limit {
	ino_t inode; /* identifies the connection: descriptors are reused */
	unsigned n_open;
	unsigned n_given_up; /* reduced by one in each interval */
	int64_t forgiven_until_ns;
};

void peer_limits_deinit(struct peer_limits *c)
{
	free(c->peers);
	memset(c, 0, sizeof *c);
}

/* gRPC calls an adopted connection "fd:N", and closes N only when its last call has gone. */
int peer_limits_find_connection(grpc_call *call)
{
	char *peer = grpc_call_get_peer(call);
	int fd;

	if (!peer || sscanf(peer, "fd:%d", &fd) != 1)
		fd = -1;
	gpr_free(peer);
	return fd;
}

/* Returns the counts of |connection|. NULL: it is not known, or memory ran out. */
static struct peer_limit *peer_limits_find(struct peer_limits *c, int connection)
{
	size_t n = c->n_peers;

	if (connection < 0 || grow(&c->peers, &c->n_peers, (size_t)connection + 1))
		return NULL;
	memset(c->peers + n, 0, (c->n_peers - n) * sizeof *c->peers);
	return &c->peers[connection];
}

/*
 * Resets the counts if the descriptor was reused. Only a connection without calls can have been
 * closed.
 */
static void peer_limit_reset_if_reused(struct peer_limit *peer, int connection)
{
	ino_t inode = socket_find_inode(connection);

	if (inode != peer->inode)
		*peer = (struct peer_limit){.inode = inode};
}

void peer_limits_note_arrival(struct peer_limits *c, int connection)
{
	struct peer_limit *peer = peer_limits_find(c, connection);

	if (!peer)
		return;
	if (!peer->n_open)
		peer_limit_reset_if_reused(peer, connection);
	if (++peer->n_open > MAX_OPEN_CALLS)
		socket_hang_up(connection);
}

void peer_limits_note_end(struct peer_limits *c, int connection)
{
	struct peer_limit *peer = peer_limits_find(c, connection);

	if (peer && peer->n_open)
		peer->n_open--;
}

static void peer_limit_forgive(struct peer_limit *peer, int64_t now_ns)
{
	int64_t n = (now_ns - peer->forgiven_until_ns) / GIVEN_UP_INTERVAL_NS;

	peer->forgiven_until_ns += n * GIVEN_UP_INTERVAL_NS;
	peer->n_given_up = n >= peer->n_given_up ? 0 : peer->n_given_up - (unsigned)n;
}

void peer_limits_note_given_up(struct peer_limits *c, int connection, int64_t now_ns)
{
	struct peer_limit *peer = peer_limits_find(c, connection);

	if (!peer)
		return;
	peer_limit_forgive(peer, now_ns);
	if (++peer->n_given_up > GIVEN_UP_BURST)
		socket_hang_up(connection);
}
