/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the message with which a forked child joins. The first byte is the number of
 * descriptors that come with it (up to 7), the rest is the message. Only the correct message is
 * accepted, and the descriptors of any other are closed.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/serve/children/joins.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/join_fixture.h"

#define MAX_FDS 7u

static bool is_right(const uint8_t *data, size_t n, unsigned n_fds)
{
	struct join_request request;

	if (n != sizeof request || n_fds != 1)
		return false;
	memcpy(&request, data, n);
	return request.magic == JOIN_MAGIC && request.version == JOIN_VERSION &&
	       memcmp(request.secret, join_fixture_secret, sizeof join_fixture_secret) == 0;
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
	before = join_fixture_next_fd();
	if (join_fixture_send(sockets[1], data + 1, n_bytes - 1, 0, n_fds) != (ssize_t)n_bytes - 1)
		abort();
	r = join_request_read(sockets[0], join_fixture_secret, &request, &fd);
	if (r > 0 || (r == 0) != is_right(data + 1, n_bytes - 1, n_fds))
		abort();
	if (r == 0 && close(fd))
		abort();
	if (join_fixture_next_fd() != before)
		abort();
	close(sockets[0]);
	close(sockets[1]);
	return 0;
}
