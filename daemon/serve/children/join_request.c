/* SPDX-License-Identifier: Apache-2.0 */
/* A child's message; see join_request.h. Every byte and descriptor of it may be hostile. */
#include "daemon/serve/children/join_request.h"

#include <errno.h>
#include <unistd.h>

#include "daemon/kernel/passed_fd.h"

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
	ssize_t n = passed_fd_receive(fd, request, sizeof *request, memfd_out);
	int r;

	if (n < 0)
		return (int)n;
	r = *memfd_out < 0 ? -EBADMSG : check_request(request, (size_t)n, secret);
	if (r && *memfd_out >= 0)
		close(*memfd_out);
	return r;
}
