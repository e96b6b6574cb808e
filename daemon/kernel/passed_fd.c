/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors in messages; see passed_fd.h. */
#include "daemon/kernel/passed_fd.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Room for all descriptors of a message; those beyond |max| are counted and closed. */
#define MAX_NOTICED 6

static void passed_fds_close(int *fds, unsigned max)
{
	for (unsigned i = 0; i < max; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

static unsigned passed_fds_take_message(const struct cmsghdr *c, int *fds, unsigned max, unsigned n)
{
	size_t n_bytes = c->cmsg_len - CMSG_LEN(0);
	int fd;

	for (size_t at = 0; at + sizeof fd <= n_bytes; at += sizeof fd, n++) {
		memcpy(&fd, CMSG_DATA(c) + at, sizeof fd);
		if (n < max)
			fds[n] = fd;
		else
			close(fd);
	}
	return n;
}

/*
 * Takes the descriptors of |message|, up to |max|. -EBADMSG: there were more, which are closed, or
 * some did not arrive; the caller closes those in |fds|.
 */
static int passed_fds_take(struct msghdr *message, int *fds, unsigned max)
{
	unsigned n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			n = passed_fds_take_message(c, fds, max, n);
	return n > max || message->msg_flags & MSG_CTRUNC ? -EBADMSG : 0;
}

ssize_t passed_fds_receive(int from, void *to, size_t size, int *fds, unsigned max)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(MAX_NOTICED * sizeof(int))];
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

	for (unsigned i = 0; i < max; i++)
		fds[i] = -1;
	if (n < 0)
		return -errno;
	r = passed_fds_take(&message, fds, max);
	if (!r && message.msg_flags & MSG_TRUNC)
		r = -EPROTO;
	if (r)
		passed_fds_close(fds, max);
	return r ? r : n;
}

ssize_t passed_fd_receive(int from, void *to, size_t size, int *fd)
{
	return passed_fds_receive(from, to, size, fd, 1);
}

union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static void passed_fd_attach(struct msghdr *message, union control *control, int fd)
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
		passed_fd_attach(&message, &control, fd);
	sent = sendmsg(to, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent < 0)
		return -errno;
	return (size_t)sent == n ? 0 : -EAGAIN;
}
