/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of a forked child that joins; see join_fixture.h. */
#include "tests/unit/join_fixture.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

const uint8_t join_fixture_secret[JOIN_SECRET_BYTES] = "0123456789abcde";

ssize_t join_fixture_send(int fd, const void *data, size_t n, int sent, unsigned n_fds)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(JOIN_FIXTURE_MAX_FDS * sizeof(int))];
	} control;
	struct iovec piece = {(void *)(size_t)data, n};
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};

	memset(&control, 0, sizeof control);
	if (n_fds) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		for (unsigned i = 0; i < n_fds; i++)
			memcpy(CMSG_DATA(&control.head) + i * sizeof(int), &sent, sizeof sent);
	}
	return sendmsg(fd, &message, MSG_DONTWAIT);
}

int join_fixture_next_fd(void)
{
	int next = dup(0);

	close(next);
	return next;
}
