/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of messages; see passed_fd.h. */
#include "daemon/passed_fd.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int passed_fd_take(struct msghdr *message, int *fd)
{
	int n = 0;

	*fd = -1;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		size_t n_bytes = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; at + sizeof *fd <= n_bytes; at += sizeof *fd, n++) {
			if (*fd >= 0)
				close(*fd);
			memcpy(fd, CMSG_DATA(c) + at, sizeof *fd);
		}
	}
	if (n <= 1 && !(message->msg_flags & MSG_CTRUNC))
		return 0;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return -EBADMSG;
}
