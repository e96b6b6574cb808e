/* SPDX-License-Identifier: Apache-2.0 */
/* Connections in gRPC's hands; see adopted.h. */
#include "rpc/adopted.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/grow.h"
#include "rpc/socket.h"

struct adopted_socket {
	int fd;
	ino_t inode; /* the number alone may be somebody else's by now */
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
	a->sockets[a->n++] = (struct adopted_socket){fd, socket_find_inode(fd)};
	return 0;
}

bool adopted_is_sending(struct adopted *a)
{
	forget_closed(a);
	for (size_t i = 0; i < a->n; i++) {
		int n_bytes = 0;

		if (ioctl(a->sockets[i].fd, SIOCOUTQ, &n_bytes) == 0 && n_bytes > 0)
			return true;
	}
	return false;
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
