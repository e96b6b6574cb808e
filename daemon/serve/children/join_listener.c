/* SPDX-License-Identifier: Apache-2.0 */
/* Where children join; see join_listener.h. */
#include "daemon/serve/children/join_listener.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* In the abstract name space: it works in a chroot, for any uid, and leaves nothing behind. */
static int bind_name(int fd, char name[JOIN_NAME_BYTES], int backlog)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	uint64_t number[2];
	int n;

	if (getrandom(number, sizeof number, 0) != (ssize_t)sizeof number)
		return -errno;
	n = snprintf(name, JOIN_NAME_BYTES, "proftap%016llx%016llx", (unsigned long long)number[0],
		(unsigned long long)number[1]);
	memcpy(address.sun_path + 1, name, (size_t)n);
	if (bind(fd, (struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) ||
		listen(fd, backlog))
		return -errno;
	return 0;
}

int join_listener_open(char name[JOIN_NAME_BYTES], int backlog)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r;

	if (fd < 0)
		return -errno;
	r = bind_name(fd, name, backlog);
	if (r == 0)
		return fd;
	close(fd);
	return r;
}
