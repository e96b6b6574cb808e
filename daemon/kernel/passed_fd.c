/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of messages; see passed_fd.h. */
#include "daemon/kernel/passed_fd.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The one descriptor of |message|. -EBADMSG, and all that came are closed, when there are more, or when not all arrived. */
static int take(struct msghdr *message, int *fd)
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

ssize_t passed_fd_receive(int from, void *to, size_t size, int *fd)
{
	/* Room for some that nobody asked for: they are counted, and closed. */
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(4 * sizeof(int))];
	} control;
	struct iovec piece = {to, size};
	struct msghdr message = {
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control,
	};
	ssize_t n = recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int r;

	*fd = -1;
	if (n < 0)
		return -errno;
	r = take(&message, fd);
	if (!r && message.msg_flags & MSG_TRUNC)
		r = -EPROTO;
	if (r && *fd >= 0) {
		close(*fd);
		*fd = -1;
	}
	return r ? r : n;
}

union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static void attach(struct msghdr *message, union control *control, int fd)
{
	memset(control, 0, sizeof *control);
	control->head.cmsg_level = SOL_SOCKET;
	control->head.cmsg_type = SCM_RIGHTS;
	control->head.cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(&control->head), &fd, sizeof fd);
	message->msg_control = control;
	message->msg_controllen = sizeof *control;
}

int passed_fd_send(int to, const void *bytes, size_t n, int fd)
{
	struct iovec piece = {(void *)bytes, n};
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
	union control control;
	ssize_t sent;

	if (fd >= 0)
		attach(&message, &control, fd);
	sent = sendmsg(to, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent < 0)
		return -errno;
	return (size_t)sent == n ? 0 : -EAGAIN;
}
