/* SPDX-License-Identifier: Apache-2.0 */
/* Tests finding the peer of real loopback connections by the kernel's tables. */
#include "daemon/kernel/peer.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/unit/socket_tables.h"
#include "tests/unit/unit.h"

#define SOMEBODY 65534

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static union address make_address(int family, const char *text, in_port_t port)
{
	union address a;

	memset(&a, 0, sizeof a);
	a.any.sa_family = (sa_family_t)family;
	/* Both address families have the port at the same place. */
	a.v4.sin_port = port;
	ck_assert_int_eq(inet_pton(family, text,
				 family == AF_INET ? (void *)&a.v4.sin_addr : &a.v6.sin6_addr),
		1);
	return a;
}

/* Returns a listener, or -1 if the machine has no such address. */
static int listen_on(int family, const char *text, in_port_t *port)
{
	union address a = make_address(family, text, 0);
	socklen_t n = sizeof a;
	int off = 0;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
	if (bind(fd, &a.any, sizeof a)) {
		close(fd);
		return -1;
	}
	ck_assert_int_eq(listen(fd, 8), 0);
	ck_assert_int_eq(getsockname(fd, &a.any, &n), 0);
	*port = a.v4.sin_port;
	return fd;
}

static int connect_to(int family, const char *text, in_port_t port)
{
	union address a = make_address(family, text, port);
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, &a.any, sizeof a), 0);
	return fd;
}

/*
 * Makes a connection to |listen_text| by way of |connect_text|. Returns false if
 * that is not possible here.
 */
static bool connect_pair(int listen_family, const char *listen_text, int connect_family,
	const char *connect_text, int fds[2])
{
	in_port_t port = 0;
	_cleanup_close_ int listener = listen_on(listen_family, listen_text, &port);

	if (listener < 0) {
		ck_assert_int_eq(listen_family, AF_INET6);
		return false;
	}
	fds[1] = connect_to(connect_family, connect_text, port);
	fds[0] = accept(listener, NULL, NULL);
	ck_assert_int_ge(fds[0], 0);
	return true;
}

/* Finds the uid, and checks that the kernel's table has the same one. */
static int find_uid(int fd, uid_t *uid)
{
	uid_t by_table = *uid;
	int r = peer_find_uid(fd, uid);

	ck_assert_int_eq(peer_table_find_uid("", getpid(), fd, &by_table), r);
	ck_assert_uint_eq(by_table, *uid);
	return r;
}

static void expect_us(
	int listen_family, const char *listen_text, int connect_family, const char *connect_text)
{
	int fds[2];
	uid_t uid = 12345;

	if (!connect_pair(listen_family, listen_text, connect_family, connect_text, fds))
		return;
	ck_assert_int_eq(find_uid(fds[0], &uid), PEER_KNOWN);
	ck_assert_uint_eq(uid, geteuid());
	uid = 12345;
	ck_assert_int_eq(find_uid(fds[1], &uid), PEER_KNOWN);
	ck_assert_uint_eq(uid, geteuid());
	close(fds[0]);
	close(fds[1]);
}

START_TEST(knows_the_user_by_ipv4)
{
	expect_us(AF_INET, "127.0.0.1", AF_INET, "127.0.0.1");
}
END_TEST

START_TEST(knows_the_user_by_ipv6)
{
	expect_us(AF_INET6, "::1", AF_INET6, "::1");
}
END_TEST

START_TEST(knows_the_user_by_mapped_addresses)
{
	expect_us(AF_INET6, "::", AF_INET, "127.0.0.1");
	expect_us(AF_INET6, "::", AF_INET6, "::ffff:127.0.0.1");
	expect_us(AF_INET, "127.0.0.1", AF_INET6, "::ffff:127.0.0.1");
}
END_TEST

/* The uid must be that of the socket at the other end, not of our own socket. */
START_TEST(knows_another_user)
{
	in_port_t port = 0;
	_cleanup_close_ int listener = listen_on(AF_INET, "127.0.0.1", &port);
	uid_t before = geteuid();
	uid_t uid = 12345;
	int client;
	int server;

	if (seteuid(SOMEBODY))
		return;
	client = connect_to(AF_INET, "127.0.0.1", port);
	ck_assert_int_eq(seteuid(before), 0);
	server = accept(listener, NULL, NULL);
	ck_assert_int_eq(find_uid(server, &uid), PEER_KNOWN);
	ck_assert_uint_eq(uid, SOMEBODY);
	close(server);
	close(client);
}
END_TEST

START_TEST(does_not_trust_a_socket_that_was_closed)
{
	int fds[2];
	uid_t uid = 12345;

	ck_assert(connect_pair(AF_INET, "127.0.0.1", AF_INET, "127.0.0.1", fds));
	close(fds[1]);
	ck_assert_int_eq(find_uid(fds[0], &uid), PEER_GONE);
	ck_assert_uint_eq(uid, 12345);
	close(fds[0]);
}
END_TEST

START_TEST(does_not_trust_a_socket_that_was_reset)
{
	struct linger now = {1, 0};
	int fds[2];
	uid_t uid = 12345;

	ck_assert(connect_pair(AF_INET, "127.0.0.1", AF_INET, "127.0.0.1", fds));
	ck_assert_int_eq(setsockopt(fds[1], SOL_SOCKET, SO_LINGER, &now, sizeof now), 0);
	close(fds[1]);
	ck_assert_int_eq(find_uid(fds[0], &uid), PEER_GONE);
	ck_assert_uint_eq(uid, 12345);
	close(fds[0]);
}
END_TEST

/*
 * A connection that nobody has accepted is ESTABLISHED, and belongs to no process: the kernel
 * reports uid 0, or that of its listener.
 */
START_TEST(does_not_trust_a_socket_without_an_owner)
{
	in_port_t port = 0;
	_cleanup_close_ int listener = listen_on(AF_INET, "127.0.0.1", &port);
	_cleanup_close_ int client = connect_to(AF_INET, "127.0.0.1", port);
	uid_t uid = 12345;

	ck_assert_int_ge(listener, 0);
	ck_assert_int_eq(find_uid(client, &uid), PEER_GONE);
	ck_assert_uint_eq(uid, 12345);
}
END_TEST

/* The owner has closed the socket, so the kernel no longer knows it. */
START_TEST(does_not_take_a_socket_that_vanished_for_a_remote_one)
{
	static const struct {
		int family;
		const char *text;
	} loopbacks[] = {{AF_INET, "127.0.0.1"}, {AF_INET, "127.5.6.7"}, {AF_INET6, "::1"},
		{AF_INET6, "::ffff:127.0.0.1"}};
	int on = 1;
	int fds[2];
	uid_t uid = 12345;

	if (!connect_pair(loopbacks[_i].family, loopbacks[_i].text, loopbacks[_i].family,
		    loopbacks[_i].text, fds))
		return;
	/* With TCP_REPAIR, close() does not tell the other end. The option needs CAP_NET_ADMIN. */
	if (setsockopt(fds[1], IPPROTO_TCP, TCP_REPAIR, &on, sizeof on) == 0) {
		close(fds[1]);
		ck_assert_int_eq(find_uid(fds[0], &uid), PEER_GONE);
		ck_assert_uint_eq(uid, 12345);
	}
	close(fds[0]);
}
END_TEST

START_TEST(refuses_descriptors_that_are_no_connection)
{
	uid_t uid = 12345;

	ck_assert_int_lt(find_uid(-1, &uid), 0);
	ck_assert_int_lt(find_uid(STDIN_FILENO, &uid), 0);
	ck_assert_uint_eq(uid, 12345);
}
END_TEST

START_TEST(knows_its_own_network_namespace)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int own = peer_table_compare_space(fd);

	/* Linux before 5.14 does not report a socket's namespace. */
	ck_assert(own == 1 || own == -ENODATA);
	if (own < 0 || unshare(CLONE_NEWNET))
		return;
	ck_assert_int_eq(peer_table_compare_space(fd), 0);
}
END_TEST

START_TEST(knows_the_user_without_netlink)
{
	socket_tables_forbid_netlink();
	expect_us(AF_INET, "127.0.0.1", AF_INET, "127.0.0.1");
	expect_us(AF_INET6, "::1", AF_INET6, "::1");
	expect_us(AF_INET6, "::", AF_INET, "127.0.0.1");
}
END_TEST

START_TEST(knows_the_user_without_the_module_tcp_diag)
{
	socket_tables_lack_tcp();
	expect_us(AF_INET, "127.0.0.1", AF_INET, "127.0.0.1");
	expect_us(AF_INET6, "::1", AF_INET6, "::1");
}
END_TEST

/* A connection whose owner cannot be looked up must not pass for one of another machine. */
START_TEST(fails_without_netlink_and_tables)
{
	int fds[2];
	uid_t uid = 12345;

	ck_assert(connect_pair(AF_INET, "127.0.0.1", AF_INET, "127.0.0.1", fds));
	ck_assert_int_eq(peer_table_find_uid("/nowhere", getpid(), fds[0], &uid), -ENOENT);
	socket_tables_forbid_all();
	ck_assert_int_eq(peer_find_uid(fds[0], &uid), -EMFILE);
	socket_tables_allow_all();
	ck_assert_uint_eq(uid, 12345);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(knows_the_user_by_ipv4),
	UNIT_TEST(knows_the_user_by_ipv6),
	UNIT_TEST(knows_the_user_by_mapped_addresses),
	UNIT_TEST(knows_another_user),
	UNIT_TEST(knows_its_own_network_namespace),
	UNIT_TEST(does_not_trust_a_socket_that_was_closed),
	UNIT_TEST(does_not_trust_a_socket_that_was_reset),
	UNIT_TEST(does_not_trust_a_socket_without_an_owner),
	UNIT_LOOP(does_not_take_a_socket_that_vanished_for_a_remote_one, 4),
	UNIT_TEST(refuses_descriptors_that_are_no_connection),
	UNIT_TEST(knows_the_user_without_netlink),
	UNIT_TEST(knows_the_user_without_the_module_tcp_diag),
	UNIT_TEST(fails_without_netlink_and_tables),
	{NULL},
};

UNIT_MAIN("peer", .tests = tests)
