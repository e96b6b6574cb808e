/* SPDX-License-Identifier: Apache-2.0 */
/* Connections to unix sockets of other servers; see unix_peer.h. */
#include "daemon/kernel/unix_peer.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int unix_peer_connect_type(const char *address, int type)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	const char *path = address + strlen("unix:");
	int r;
	int fd;

	if (strncmp(address, "unix:/", 6) != 0 || strlen(path) >= sizeof un.sun_path)
		return -EINVAL;
	strcpy(un.sun_path, path);
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&un, sizeof un) == 0)
		return fd;
	r = -errno;
	close(fd);
	return r;
}

int unix_peer_connect(const char *address)
{
	return unix_peer_connect_type(address, SOCK_STREAM);
}

int unix_peer_connect_messages(const char *address)
{
	return unix_peer_connect_type(address, SOCK_SEQPACKET);
}

int unix_peer_identify(int fd, pid_t *pid, uid_t *uid)
{
	struct ucred peer;
	socklen_t n = sizeof peer;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n))
		return -errno;
	*pid = peer.pid;
	*uid = peer.uid;
	return 0;
}
