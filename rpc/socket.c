/* SPDX-License-Identifier: Apache-2.0 */
/* A connected socket on its way to gRPC; see socket.h. */
#include "rpc/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>

/*
 * Overrides TCP_KEEPCNT on a quiet connection, see tcp(7): by then three probes must have been
 * lost.
 */
#define UNREAD_MS 60000
/*
 * The receive buffer. Requests are small. gRPC's thread would read on while ours, which counts the
 * calls and hangs up, waits for a processor; a small buffer makes the peer wait instead.
 */
#define UNREAD_BYTES 16384

/* The server gives up a vanished peer after a minute and a half. */
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
	 * gRPC may close the descriptor, and another thread reuse its number, meanwhile; TSan would
	 * report fstat().
	 */
	return statx(fd, "", AT_EMPTY_PATH, STATX_INO, &st) ? 0 : st.stx_ino;
}

/* Uses a reset: a peer that sends against a closed window would not see a normal end. */
void socket_hang_up(int fd)
{
	const struct linger now = {1, 0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	shutdown(fd, SHUT_RDWR);
}
