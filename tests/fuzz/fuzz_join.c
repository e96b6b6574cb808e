/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of what a forked child says when it joins. The first byte says how many descriptors come along (up to 7),
 * the rest is the message. Accepted is exactly the one that is right, and of any other nothing stays open.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/join_request.h"
#include "tests/fuzz/fuzz.h"

#define MAX_FDS 7u

static const uint8_t secret[JOIN_SECRET_BYTES] = "0123456789abcde";

static int next_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static void send_request(int fd, const uint8_t *data, size_t n, unsigned n_fds)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(MAX_FDS * sizeof(int))];
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
	}
	if (sendmsg(fd, &message, MSG_DONTWAIT) != (ssize_t)n)
		abort();
}

static int is_right(const uint8_t *data, size_t n, unsigned n_fds)
{
	struct join_request request;

	if (n != sizeof request || n_fds != 1)
		return 0;
	memcpy(&request, data, n);
	return request.magic == JOIN_MAGIC && request.version == JOIN_VERSION &&
	       memcmp(request.secret, secret, sizeof secret) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct join_request request;
	unsigned n_fds = n_bytes ? data[0] & MAX_FDS : 0;
	int sockets[2];
	int before;
	int fd = -1;
	int r;

	if (!n_bytes || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return 0;
	before = next_fd();
	send_request(sockets[1], data + 1, n_bytes - 1, n_fds);
	r = join_request_read(sockets[0], secret, &request, &fd);
	if (r > 0 || (r == 0) != is_right(data + 1, n_bytes - 1, n_fds))
		abort();
	if (r == 0 && close(fd))
		abort();
	if (next_fd() != before)
		abort();
	close(sockets[0]);
	close(sockets[1]);
	return 0;
}
