/* SPDX-License-Identifier: Apache-2.0 */
/* Connections in gRPC's hands; see adopted.h. */
#include "rpc/adopted.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/grow.h"
#include "rpc/socket.h"

struct adopted_socket {
	int fd;
	ino_t inode; /* the number alone may be somebody else's by now */
	uint64_t n_acked; /* of TCP: bytes that the peer had at the last look */
	int n_left; /* bytes that it had not */
};

static void forget_closed(struct adopted *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++)
		if (socket_find_inode(a->sockets[i].fd) == a->sockets[i].inode)
			a->sockets[n++] = a->sockets[i];
	a->n = n;
}

int adopted_add(struct adopted *a, int fd)
{
	forget_closed(a);
	if (grow(&a->sockets, &a->n_allocated, a->n + 1))
		return -ENOMEM;
	a->sockets[a->n++] = (struct adopted_socket){.fd = fd, .inode = socket_find_inode(fd)};
	return 0;
}

/*
 * The bytes that the peer took since the last look. The kernel counts them for TCP; for other
 * sockets only what is left is known.
 */
static uint64_t count_taken(const struct adopted_socket *s, int n_left)
{
	struct tcp_info info = {.tcpi_bytes_acked = 0};
	socklen_t n = sizeof info;

	if (getsockopt(s->fd, IPPROTO_TCP, TCP_INFO, &info, &n) == 0)
		return info.tcpi_bytes_acked - s->n_acked;
	return (uint64_t)llabs((long long)n_left - s->n_left);
}

bool adopted_is_sending(struct adopted *a, uint64_t *n_moved)
{
	bool is_sending = false;

	forget_closed(a);
	for (size_t i = 0; i < a->n; i++) {
		struct adopted_socket *s = &a->sockets[i];
		uint64_t n_taken;
		int n_left = 0;

		if (ioctl(s->fd, SIOCOUTQ, &n_left) < 0)
			continue;
		n_taken = count_taken(s, n_left);
		s->n_acked += n_taken;
		s->n_left = n_left;
		*n_moved += n_taken;
		is_sending = is_sending || n_left > 0;
	}
	return is_sending;
}

void adopted_hang_up(struct adopted *a)
{
	forget_closed(a);
	for (size_t i = 0; i < a->n; i++)
		shutdown(a->sockets[i].fd, SHUT_RDWR);
}

void adopted_deinit(struct adopted *a)
{
	free(a->sockets);
	memset(a, 0, sizeof *a);
}
