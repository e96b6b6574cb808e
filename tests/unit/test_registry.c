/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the registry of children, which register themselves: their notices, and which children are
 * kept or forgotten.
 */
#include "daemon/serve/children/registry.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/serve/calls/descendants.h"
#include "tests/unit/unit.h"
#include "tests/unit/unix_listen.h"

static struct registry registry;
static struct registered found[REGISTRY_MAX];
static char dir[] = "/tmp/test_registry-XXXXXX";
static char place[64]; /* the address of a server that listens */
static int listener;

static void setup(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	registry_init(&registry);
	snprintf(place, sizeof place, "unix:%s/socket", dir);
	listener = unix_listen(place + 5);
}

static void teardown(void)
{
	close(listener);
	unlink(place + 5);
	rmdir(dir);
}

static struct notice notice_of(pid_t pid, const char *address)
{
	struct notice n = {.pid = pid, .pidfd = -1};

	snprintf(n.address, sizeof n.address, "%s", address);
	return n;
}

static int add(pid_t pid, const char *address)
{
	struct notice n = notice_of(pid, address);

	return registry_add(&registry, &n, 0);
}

static int open_pidfd(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	ck_assert_int_ge(fd, 0);
	return fd;
}

START_TEST(a_notice_arrives_as_it_was_sent)
{
	struct notice out;
	struct notice in = notice_of(77, "unix:/a b/c.sock");
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	in.n_hops = 3;
	in.pidfd = open_pidfd(getpid());
	ck_assert_int_eq(notice_send(ends[0], &in), 0);
	ck_assert_int_eq(notice_read(ends[1], &out), 0);
	ck_assert_int_eq(out.pid, 77);
	ck_assert_uint_eq(out.n_hops, 3);
	ck_assert_str_eq(out.address, in.address);
	ck_assert_int_ge(out.pidfd, 0);
	ck_assert_int_eq(close(out.pidfd), 0);
	close(in.pidfd);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

START_TEST(keeps_servers_that_answer)
{
	ck_assert_int_eq(add(5, "unix:/nobody/there"), 0);
	ck_assert_int_eq(add(6, place), 0);
	ck_assert_uint_eq(registry_list(&registry, found), 1);
	ck_assert_int_eq(found[0].pid, 6);
	ck_assert_str_eq(found[0].address, place);
}
END_TEST

START_TEST(has_each_server_once)
{
	ck_assert_int_eq(add(6, place), 0);
	ck_assert_int_eq(add(7, place), 0);
	ck_assert_uint_eq(registry_list(&registry, found), 1);
	ck_assert_int_eq(found[0].pid, 7);
}
END_TEST

START_TEST(forgets_a_process_that_has_ended)
{
	struct notice n = notice_of(5, place);
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	n.pidfd = open_pidfd(pid);
	ck_assert_int_eq(registry_add(&registry, &n, 0), 0);
	ck_assert_uint_eq(registry_list(&registry, found), 1);
	/* This is the pid of the pidfd, not the one in the notice. */
	ck_assert_int_eq(found[0].pid, pid);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_uint_eq(registry_list(&registry, found), 0);
}
END_TEST

START_TEST(a_number_of_another_namespace_hides_nobody)
{
	static struct descendants all;
	char other[64];
	struct notice n;
	int fd;

	snprintf(other, sizeof other, "unix:%s/other", dir);
	fd = unix_listen(other + 5);
	/* Without a pidfd nothing confirms the sender's pid. */
	ck_assert_int_eq(add(getpid(), other), 0);
	n = notice_of(getpid(), place);
	n.pidfd = open_pidfd(getpid());
	ck_assert_int_eq(registry_add(&registry, &n, 0), 0);
	descendants_find(&all, getppid(), &registry);
	ck_assert_uint_eq(all.n, 2);
	ck_assert_str_eq(all.v[0].address, other);
	ck_assert_str_eq(all.v[1].address, place);
	close(fd);
	unlink(other + 5);
}
END_TEST

START_TEST(takes_no_other_descriptor_for_a_process)
{
	struct notice n = notice_of(5, place);

	n.pidfd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(registry_add(&registry, &n, 0), -EBADF);
	ck_assert_uint_eq(registry_list(&registry, found), 0);
}
END_TEST

START_TEST(refuses_a_server_when_full)
{
	char address[64];

	for (int i = 0; i < REGISTRY_MAX; i++) {
		snprintf(address, sizeof address, "unix:/nobody/%d", i);
		ck_assert_int_eq(add(i + 1, address), 0);
	}
	ck_assert_int_eq(add(1000, place), -ENOSPC);
	/* They are removed when the list is read, because they do not answer. */
	ck_assert_uint_eq(registry_list(&registry, found), 0);
	ck_assert_int_eq(add(1000, place), 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_notice_arrives_as_it_was_sent),
	UNIT_TEST(keeps_servers_that_answer),
	UNIT_TEST(has_each_server_once),
	UNIT_TEST(forgets_a_process_that_has_ended),
	UNIT_TEST(a_number_of_another_namespace_hides_nobody),
	UNIT_TEST(takes_no_other_descriptor_for_a_process),
	UNIT_TEST(refuses_a_server_when_full),
	{NULL},
};

UNIT_MAIN("registry", .set_up = setup, .tear_down = teardown, .tests = tests)
