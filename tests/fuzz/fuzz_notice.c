/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the notices of children. The first byte is the number of descriptors that come
 * with it (up to 7), the rest is the notice. An accepted notice begins correctly, is in range, and
 * does not change when it is passed on. The descriptors of a refused one are closed.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/printable.h"
#include "daemon/serve/children/registry.h"
#include "daemon/serve/door/greeting.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/join_fixture.h"

#define MAX_FDS 7u

static void check_accepted(const struct notice *n, unsigned n_fds)
{
	size_t n_bytes = strnlen(n->address, sizeof n->address);

	if (n->pid <= 0 || n->n_hops >= NOTICE_MAX_HOPS || n_bytes == sizeof n->address ||
		strncmp(n->address, "unix:/", 6) != 0)
		abort();
	if (n_fds > 1 || (n->pidfd >= 0) != (n_fds == 1))
		abort();
	for (size_t at = 0; at < n_bytes;) {
		size_t kept = printable_length(n->address + at, n_bytes - at);

		if (!kept)
			abort();
		at += kept;
	}
}

static void check_passed_on(const int sockets[2], const struct notice *n)
{
	struct notice again;

	if (notice_send(sockets[1], n) || notice_read(sockets[0], &again))
		abort();
	if (again.pid != n->pid || again.n_hops != n->n_hops ||
		strcmp(again.address, n->address) != 0 || (again.pidfd < 0) != (n->pidfd < 0))
		abort();
	if (again.pidfd >= 0)
		close(again.pidfd);
}

static void check(const uint8_t *data, size_t n_bytes, unsigned n_fds, const int sockets[2])
{
	struct notice n;
	int r;

	if (join_fixture_send(sockets[1], data, n_bytes, 0, n_fds) != (ssize_t)n_bytes)
		abort();
	r = notice_read(sockets[0], &n);
	if (r > 0 || (!r && greeting_judge(data, n_bytes) != GREETING_NOTICE))
		abort();
	if (r)
		return;
	check_accepted(&n, n_fds);
	check_passed_on(sockets, &n);
	if (n.pidfd >= 0)
		close(n.pidfd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	int before = join_fixture_next_fd();
	int sockets[2];

	if (!n_bytes || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return 0;
	check(data + 1, n_bytes - 1, data[0] & MAX_FDS, sockets);
	close(sockets[0]);
	close(sockets[1]);
	if (join_fixture_next_fd() != before)
		abort();
	return 0;
}
