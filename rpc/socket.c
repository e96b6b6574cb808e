/* SPDX-License-Identifier: Apache-2.0 */
/* A connected socket on its way to gRPC; see socket.h. */
#include "rpc/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <sys/socket.h>

/* A vanished peer is given up after about two minutes, one that stops reading after one. */
static const struct {
	int level;
	int name;
	int value;
} tcp_options[] = {
	{IPPROTO_TCP, TCP_NODELAY, 1}, {SOL_SOCKET, SO_KEEPALIVE, 1},
	{IPPROTO_TCP, TCP_KEEPIDLE, 60}, /* s */
	{IPPROTO_TCP, TCP_KEEPINTVL, 15}, /* s */
	{IPPROTO_TCP, TCP_KEEPCNT, 4},
	{IPPROTO_TCP, TCP_USER_TIMEOUT, 60000}, /* ms, without taking anything of an answer */
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
	/* Comfort only: a socket that refuses one of these still works. */
	for (size_t i = 0; i < sizeof tcp_options / sizeof tcp_options[0]; i++)
		setsockopt(fd, tcp_options[i].level, tcp_options[i].name, &tcp_options[i].value,
			sizeof tcp_options[i].value);
	return 0;
}

/* With a reset: the peer may be sending against a window that is closed, and would not see an end. */
void socket_hang_up(int fd)
{
	const struct linger now = {1, 0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	shutdown(fd, SHUT_RDWR);
}
