/* SPDX-License-Identifier: Apache-2.0 */
/* How peers behave; see conduct.h. */
#include "rpc/conduct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <grpc/grpc.h>
#include <grpc/support/alloc.h>

#include "base/clock.h"
#include "base/grow.h"
#include "rpc/socket.h"

/* Clients keep to the limit on streams that they were told, which is less. */
#define MAX_OPEN_CALLS 64
/* So many at once may be given up, and one more in each interval. */
#define GIVEN_UP_BURST 64
#define GIVEN_UP_INTERVAL_NS (NS_PER_S / 10)

struct peer_conduct {
	ino_t inode; /* whose conduct this is: descriptors are used again */
	unsigned n_open;
	unsigned n_given_up; /* less what the time since has forgiven */
	int64_t forgiven_until_ns;
};

void conduct_deinit(struct conduct *c)
{
	free(c->peers);
	memset(c, 0, sizeof *c);
}

/* gRPC calls a connection that was adopted "fd:N"; it closes N only when the last call has gone. */
int conduct_find_connection(grpc_call *call)
{
	char *peer = grpc_call_get_peer(call);
	int fd;

	if (!peer || sscanf(peer, "fd:%d", &fd) != 1)
		fd = -1;
	gpr_free(peer);
	return fd;
}

/* NULL: not known, or no memory to remember it. */
static struct peer_conduct *find(struct conduct *c, int connection)
{
	size_t n = c->n_peers;

	if (connection < 0 || grow(&c->peers, &c->n_peers, (size_t)connection + 1))
		return NULL;
	memset(c->peers + n, 0, (c->n_peers - n) * sizeof *c->peers);
	return &c->peers[connection];
}

/* Only a connection without calls may have become another. */
static void forget_former(struct peer_conduct *peer, int connection)
{
	ino_t inode = socket_find_inode(connection);

	if (inode != peer->inode)
		*peer = (struct peer_conduct){.inode = inode};
}

void conduct_note_arrival(struct conduct *c, int connection)
{
	struct peer_conduct *peer = find(c, connection);

	if (!peer)
		return;
	if (!peer->n_open)
		forget_former(peer, connection);
	if (++peer->n_open > MAX_OPEN_CALLS)
		socket_hang_up(connection);
}

void conduct_note_end(struct conduct *c, int connection)
{
	struct peer_conduct *peer = find(c, connection);

	if (peer && peer->n_open)
		peer->n_open--;
}

static void forgive(struct peer_conduct *peer, int64_t now_ns)
{
	int64_t n = (now_ns - peer->forgiven_until_ns) / GIVEN_UP_INTERVAL_NS;

	peer->forgiven_until_ns += n * GIVEN_UP_INTERVAL_NS;
	peer->n_given_up = n >= peer->n_given_up ? 0 : peer->n_given_up - (unsigned)n;
}

void conduct_note_given_up(struct conduct *c, int connection, int64_t now_ns)
{
	struct peer_conduct *peer = find(c, connection);

	if (!peer)
		return;
	forgive(peer, now_ns);
	if (++peer->n_given_up > GIVEN_UP_BURST)
		socket_hang_up(connection);
}
