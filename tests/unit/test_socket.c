/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the options of a server's and of a client's sockets. */
#include "rpc/socket.h"

#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/diag.h"
#include "rpc/client.h"
#include "tests/unit/unit.h"

static int open_tcp(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static int get(int fd, int level, int name)
{
	int value = -1;
	socklen_t n = sizeof value;

	ck_assert_int_eq(getsockopt(fd, level, name, &value, &n), 0);
	return value;
}

START_TEST(every_connection_is_kept_alive_and_private)
{
	int fd = open_tcp();

	ck_assert_int_eq(socket_prepare(fd), 0);
	ck_assert_int_eq(get(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
	ck_assert_int_eq(get(fd, IPPROTO_TCP, TCP_NODELAY), 1);
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	ck_assert_int_eq(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	close(fd);
}
END_TEST

/* With TCP_USER_TIMEOUT, a client would give up a quiet server for one lost probe. */
START_TEST(a_client_waits_as_long_as_keep_alive)
{
	int fd = open_tcp();
	int ours = dup(fd);
	int before = get(fd, SOL_SOCKET, SO_RCVBUF);
	struct rpc_channel *channel = NULL;
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(rpc_channel_new(fd, "localhost:1", &channel, &d), 0);
	ck_assert_int_eq(get(ours, SOL_SOCKET, SO_KEEPALIVE), 1);
	ck_assert_int_eq(get(ours, IPPROTO_TCP, TCP_USER_TIMEOUT), 0);
	ck_assert_int_eq(get(ours, SOL_SOCKET, SO_RCVBUF), before);
	rpc_channel_free(channel);
	close(ours);
}
END_TEST

START_TEST(a_quiet_peer_of_a_server_may_lose_three_probes)
{
	int fd = open_tcp();

	ck_assert_int_eq(socket_prepare(fd), 0);
	socket_limit_unread(fd);
	ck_assert_int_ge(get(fd, IPPROTO_TCP, TCP_USER_TIMEOUT),
		1000 * (get(fd, IPPROTO_TCP, TCP_KEEPIDLE) +
			       3 * get(fd, IPPROTO_TCP, TCP_KEEPINTVL)));
	close(fd);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(every_connection_is_kept_alive_and_private),
	UNIT_TEST(a_client_waits_as_long_as_keep_alive),
	UNIT_TEST(a_quiet_peer_of_a_server_may_lose_three_probes),
	{NULL},
};

UNIT_MAIN("socket", .tests = tests)
