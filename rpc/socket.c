/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the options of connected sockets that gRPC takes; see socket.h. */
#include "rpc/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>

/*
 * TCP_USER_TIMEOUT. On a quiet connection it replaces TCP_KEEPCNT, see tcp(7): the connection ends
 * after this time, when three probes have been lost.
 */
#define UNREAD_MS 60000
/*
 * The size of the receive buffer, which the kernel doubles. Requests are small. Our thread counts
 * the calls and closes the connections of peers that make too many; gRPC's thread would read
 * further calls while ours waits for a processor. A small buffer makes the peer wait instead. On
 * TCP it also bounds the bytes that gRPC reads, and therefore parses, at once. gRPC's own argument
 * does not: grpc.experimental.tcp_max_read_chunk_size has had no effect since 1.51.
 */
#define UNREAD_BYTES 16384

/*
 * A vanished peer is given up after 30 s and six probes, that is, after a minute and a half;
 * socket_limit_unread() makes that a minute.
 */
static const struct {
	int level;
	int name;
	int value;
} tcp_options[] = {
	{IPPROTO_TCP, TCP_NODELAY, 1},
	{SOL_SOCKET, SO_KEEPALIVE, 1},
	{IPPROTO_TCP, TCP_KEEPIDLE, 30}, /* s */
	{IPPROTO_TCP, TCP_KEEPINTVL, 10}, /* s */
	{IPPROTO_TCP, TCP_KEEPCNT, 6},
};

static int add_flags(int fd, int get, int set, int flags)
{
	int old = fcntl(fd, get);

	if (old < 0 || fcntl(fd, set, old | flags) < 0)
		return -errno;
	return 0;
}

static bool is_tcp(int fd)
{
	int protocol = 0;
	socklen_t size = sizeof protocol;

	/* Unix sockets answer 0. */
	return !getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) &&
	       protocol == IPPROTO_TCP;
}

int socket_prepare(int fd)
{
	int r = add_flags(fd, F_GETFL, F_SETFL, O_NONBLOCK);

	if (!r)
		r = add_flags(fd, F_GETFD, F_SETFD, FD_CLOEXEC);
	if (r || !is_tcp(fd))
		return r;
	/* These are optional: a socket that refuses one of them still works. */
	for (size_t i = 0; i < sizeof tcp_options / sizeof tcp_options[0]; i++)
		setsockopt(fd, tcp_options[i].level, tcp_options[i].name, &tcp_options[i].value,
			sizeof tcp_options[i].value);
	return 0;
}

void socket_limit_unread(int fd)
{
	const int ms = UNREAD_MS;
	const int unread_bytes = UNREAD_BYTES;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &unread_bytes, sizeof unread_bytes);
	if (is_tcp(fd))
		setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
}

ino_t socket_find_inode(int fd)
{
	struct statx st;

	/*
	 * While this runs, gRPC may close the descriptor, and another thread may reuse its number.
	 * TSan would report fstat() as a race, so this is statx().
	 */
	return statx(fd, "", AT_EMPTY_PATH, STATX_INO, &st) ? 0 : st.stx_ino;
}

/*
 * The last close sends a reset, because a peer whose data our full receive buffer holds up would
 * not see a normal end.
 */
void socket_hang_up(int fd)
{
	const struct linger now = {1, 0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	shutdown(fd, SHUT_RDWR);
}
