/* SPDX-License-Identifier: Apache-2.0 */
/* A child's message; see join_request.h. Every byte and descriptor of it may be hostile. */
#include "daemon/join_request.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/passed_fd.h"

/* In the same time for every wrong one. */
static int is_secret(const uint8_t *a, const uint8_t *b)
{
	unsigned differ = 0;

	for (int i = 0; i < JOIN_SECRET_BYTES; i++)
		differ |= (unsigned)(a[i] ^ b[i]);
	return differ == 0;
}

static int check_request(const struct join_request *request, size_t n, const uint8_t *secret)
{
	if (n != sizeof *request || request->magic != JOIN_MAGIC ||
		request->version != JOIN_VERSION)
		return -EPROTO;
	return is_secret(request->secret, secret) ? 0 : -EACCES;
}

int join_request_read(int fd, const uint8_t secret[JOIN_SECRET_BYTES], struct join_request *request,
	int *memfd_out)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(4 * sizeof(int))];
	} control;
	struct iovec piece = {request, sizeof *request};
	struct msghdr message = {
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control,
	};
	ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int r;

	if (n < 0)
		return -errno;
	r = passed_fd_take(&message, memfd_out);
	if (!r && *memfd_out < 0)
		r = -EBADMSG;
	if (r)
		return r;
	r = message.msg_flags & MSG_TRUNC ? -EPROTO : check_request(request, (size_t)n, secret);
	if (r)
		close(*memfd_out);
	return r;
}
