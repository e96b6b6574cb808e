/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests which users may connect, and how others are refused. Only root can test with another user.
 */
#include "daemon/serve/door/access.h"

#include <check.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/target/target.h"
#include "tests/unit/socket_tables.h"
#include "tests/unit/unit.h"

#define SOMEBODY 65534
#define N_REFUSED 1000

static struct target target;
static struct access access_of_target;
static unsigned n_lines;
static char line[200];

static void sink(const struct log_message *message, void *context)
{
	(void)context;
	n_lines++;
	strncpy(line, message->text, sizeof line - 1);
}

static void setup(void)
{
	memset(&target, 0, sizeof target);
	target.pid = getpid();
	target.uid = geteuid();
	access_init(&access_of_target, &target);
	n_lines = 0;
	log_set_sink(sink, NULL);
}

/* Returns a socket whose peer is |uid|, or -1 if this is not possible. */
static int connect_as(uid_t uid)
{
	uid_t before = geteuid();
	int fds[2];

	if (seteuid(uid))
		return -1;
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	ck_assert_int_eq(seteuid(before), 0);
	close(fds[1]);
	return fds[0];
}

START_TEST(lets_its_own_user_in)
{
	int fd = connect_as(geteuid());

	ck_assert(access_allows_path(&access_of_target, fd));
	ck_assert_uint_eq(n_lines, 0);
	close(fd);
}
END_TEST

START_TEST(warns_of_many_refusals_once_a_second)
{
	int fd = connect_as(SOMEBODY);

	if (fd < 0)
		return;
	for (int i = 0; i < N_REFUSED; i++)
		ck_assert(!access_allows_path(&access_of_target, fd));
	ck_assert_uint_ge(n_lines, 1);
	/* If the machine is busy for seconds, each second has a line. */
	ck_assert_uint_le(n_lines, N_REFUSED / 10);
	n_lines = 0;
	/* A second has passed. */
	access_of_target.n_unsaid = N_REFUSED - 1;
	access_of_target.quiet_until_ns = monotonic_ns();
	ck_assert(!access_allows_path(&access_of_target, fd));
	ck_assert_uint_eq(n_lines, 1);
	ck_assert_ptr_nonnull(strstr(line, "refused a connection of uid 65534"));
	ck_assert_ptr_nonnull(strstr(line, "; 999 more since the last such line"));
	ck_assert_uint_eq(access_of_target.n_unsaid, 0);
	close(fd);
}
END_TEST

/* Connects two TCP sockets, which |fds| gets. */
static void connect_by_tcp(int fds[2])
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&a, n), 0);
	ck_assert_int_eq(listen(listener, 1), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&a, &n), 0);
	ck_assert_int_eq(connect(fds[1], (struct sockaddr *)&a, n), 0);
	fds[0] = accept(listener, NULL, NULL);
	ck_assert_int_ge(fds[0], 0);
	close(listener);
}

START_TEST(lets_its_own_user_in_on_a_kernel_without_tcp_diag)
{
	int fds[2];

	connect_by_tcp(fds);
	socket_tables_lack_tcp();
	ck_assert(access_allows_tcp(&access_of_target, fds[0]));
	ck_assert_uint_eq(n_lines, 0);
}
END_TEST

START_TEST(tells_why_an_owner_is_unknown)
{
	int fds[2];

	connect_by_tcp(fds);
	socket_tables_forbid_all();
	ck_assert(!access_allows_tcp(&access_of_target, fds[0]));
	socket_tables_allow_all();
	ck_assert_ptr_nonnull(strstr(line,
		"refused a connection: the kernel does not tell whose it is: too many open files"));
	ck_assert_ptr_null(strstr(line, "modprobe"));
}
END_TEST

START_TEST(tells_that_an_owner_has_gone)
{
	int fds[2];

	connect_by_tcp(fds);
	close(fds[1]);
	ck_assert(!access_allows_tcp(&access_of_target, fds[0]));
	ck_assert_ptr_nonnull(strstr(line, "refused a connection: its owner has closed it"));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(lets_its_own_user_in),
	UNIT_TEST(warns_of_many_refusals_once_a_second),
	UNIT_TEST(lets_its_own_user_in_on_a_kernel_without_tcp_diag),
	UNIT_TEST(tells_why_an_owner_is_unknown),
	UNIT_TEST(tells_that_an_owner_has_gone),
	{NULL},
};

UNIT_MAIN("access", .set_up = setup, .tests = tests)
