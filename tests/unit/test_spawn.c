/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests starting the server: where it is found, its arguments, and what
 * stays behind in the program.
 */
#include "lib/spawn/spawn.h"

#include <arpa/inet.h>
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <proftap/proftap.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "lib/control/launch.h"
#include "lib/spawn/address.h"
#include "lib/wire/arena.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

static char program[PATH_MAX];

static void setup(void)
{
	fake_root_make();
	fake_root_write("/bin/proftapd", "#!/bin/sh\n");
	fake_root_write("/bin/plain", "no program\n");
	snprintf(program, sizeof program, "%s/bin/proftapd", fake_root);
	ck_assert_int_eq(chmod(program, 0755), 0);
}

static void expect_found(const char *asked)
{
	struct diag d = DIAG_INIT;
	char path[PATH_MAX] = "";

	setenv("PROFTAPD", asked, 1);
	ck_assert_msg(launch_find_server(path, sizeof path, &d) == 0, "%s", d.text);
	ck_assert_str_eq(path, program);
}

START_TEST(takes_the_requested_server)
{
	expect_found(program);
	/* The server is started in "/", so a relative path must become an absolute one. */
	ck_assert_int_eq(chdir(fake_root), 0);
	expect_found("bin/proftapd");
	expect_found("./bin/../bin/proftapd");
	ck_assert_int_eq(chdir("bin"), 0);
	expect_found("proftapd");
}
END_TEST

static void expect_refused(const char *asked)
{
	struct diag d = DIAG_INIT;
	char path[PATH_MAX] = "";

	setenv("PROFTAPD", asked, 1);
	ck_assert_msg(launch_find_server(path, sizeof path, &d) == -ENOENT, "%s", asked);
	ck_assert_msg(strstr(d.text, "PROFTAPD=") && strstr(d.text, asked), "said: %s", d.text);
}

START_TEST(refuses_a_server_that_is_no_program)
{
	ck_assert_int_eq(chdir(fake_root), 0);
	expect_refused("/does/not/exist");
	expect_refused("bin/plain");
	expect_refused("bin");
	expect_refused("not/there");
}
END_TEST

START_TEST(does_not_overrun_a_short_buffer)
{
	struct diag d = DIAG_INIT;
	char path[16] = "";

	setenv("PROFTAPD", program, 1);
	ck_assert_int_lt(launch_find_server(path, 8, &d), 0);
	ck_assert_str_eq(path + 8, "");
}
END_TEST

START_TEST(finds_a_server_without_being_told)
{
	struct diag d = DIAG_INIT;
	char path[PATH_MAX] = "";
	char places[PATH_MAX];

	unsetenv("PROFTAPD");
	snprintf(places, sizeof places, "relative::/nowhere:%s/bin", fake_root);
	setenv("PATH", places, 1);
	ck_assert_msg(launch_find_server(path, sizeof path, &d) == 0, "%s", d.text);
	ck_assert_int_eq(path[0], '/');
	ck_assert_int_eq(access(path, X_OK), 0);
}
END_TEST

static bool has_entry(char **environment, const char *entry)
{
	for (; *environment; environment++)
		if (strcmp(*environment, entry) == 0)
			return true;
	return false;
}

START_TEST(drops_variables_that_would_change_the_server)
{
	static const char *const unwanted[] = {"LD_PRELOAD=a", "LD_LIBRARY_PATH=a", "PROFTAPD=a",
		"PROFTAP_LOG=a", "GRPC_VERBOSITY=a", "http_proxy=a", "HTTPS_PROXY=a", "no_proxy=a"};
	static const char *const kept[] = {"LDX=a", "PATH=/bin", "HTTP_PROXY_HOST=a", "proxy=a",
		"A=LD_PRELOAD", "MY_GRPC_X=a", "TZ=UTC"};
	char **before = environ;
	char *given[32];
	size_t n = 0;
	char **clean;

	for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++) {
		given[n++] = (char *)unwanted[i];
		if (i < sizeof kept / sizeof *kept)
			given[n++] = (char *)kept[i];
	}
	given[n] = NULL;
	environ = given;
	clean = spawn_clean_environment();
	environ = before;
	ck_assert_ptr_nonnull(clean);
	for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++)
		ck_assert_msg(!has_entry(clean, unwanted[i]), "%s", unwanted[i]);
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		ck_assert_msg(has_entry(clean, kept[i]), "%s", kept[i]);
	free(clean);
}
END_TEST

static int parse(const char *text, int insecure, struct sockaddr_storage *a, struct diag *d)
{
	struct ptap_server_options o = PTAP_SERVER_OPTIONS_INIT;
	struct spawn s = {0};
	int r;

	o.address = text;
	o.port = 4711;
	o.insecure = insecure;
	r = listen_address_parse(&o, &s, d);
	*a = s.address;
	if (r == 0)
		ck_assert_uint_eq(s.address_bytes, a->ss_family == AF_INET
							   ? sizeof(struct sockaddr_in)
							   : sizeof(struct sockaddr_in6));
	return r;
}

static void expect_address(const char *text, int insecure, const char *expected)
{
	struct sockaddr_storage a;
	struct diag d = DIAG_INIT;
	char got[INET6_ADDRSTRLEN] = "";
	struct sockaddr_in *v4 = (struct sockaddr_in *)&a;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&a;

	ck_assert_msg(parse(text, insecure, &a, &d) == 0, "%s", d.text);
	inet_ntop(a.ss_family, a.ss_family == AF_INET ? (void *)&v4->sin_addr : &v6->sin6_addr, got,
		sizeof got);
	ck_assert_str_eq(got, expected);
	ck_assert_uint_eq(ntohs(v4->sin_port), 4711);
}

static void refuse_address(const char *text, const char *words)
{
	struct sockaddr_storage a;
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(parse(text, 0, &a, &d), -EINVAL);
	ck_assert_msg(strstr(d.text, words) && strstr(d.text, text), "said: %s", d.text);
}

START_TEST(listens_on_loopback_unless_told_otherwise)
{
	expect_address(NULL, 0, "127.0.0.1");
	expect_address("localhost", 0, "127.0.0.1");
	expect_address("127.8.9.10", 0, "127.8.9.10");
	expect_address("::1", 0, "::1");
	expect_address("0.0.0.0", 1, "0.0.0.0");
	expect_address("::", 1, "::");
	expect_address("192.168.1.2", 1, "192.168.1.2");
}
END_TEST

START_TEST(refuses_addresses_that_others_can_reach)
{
	refuse_address("0.0.0.0", ".insecure");
	refuse_address("::", ".insecure");
	refuse_address("128.0.0.1", ".insecure");
	refuse_address("::ffff:10.0.0.1", ".insecure");
}
END_TEST

START_TEST(refuses_addresses_that_are_not_numbers)
{
	refuse_address("example.org", "not a numeric");
	refuse_address("", "not a numeric");
	refuse_address("127.0.0.1:99", "not a numeric");
	refuse_address("127.1", "not a numeric");
	refuse_address("[::1]:99", "not a numeric");
}
END_TEST

static void expect_stripped(const char *address, const char *stripped)
{
	struct ptap_server_options o = PTAP_SERVER_OPTIONS_INIT;
	char text[LISTEN_ADDRESS_BYTES];

	o.address = address;
	listen_address_strip(&o, text);
	ck_assert_pstr_eq(o.address, stripped);
}

/* PROFTAP_SERVER and clients write brackets; no other text becomes an address by removing them. */
START_TEST(takes_the_brackets_of_ipv6_off)
{
	expect_stripped("[::1]", "::1");
	expect_stripped("[fe80::1]", "fe80::1");
	expect_stripped("::1", "::1");
	expect_stripped("[127.0.0.1]", "[127.0.0.1]");
	expect_stripped("[::1]:99", "[::1]:99");
	expect_stripped("[::1", "[::1");
	expect_stripped("[]", "[]");
	expect_stripped("[", "[");
	expect_stripped("", "");
	expect_stripped(NULL, NULL);
	expect_stripped("[:23456789012345678901234567890123456789012345678901234567890123456789]",
		"[:23456789012345678901234567890123456789012345678901234567890123456789]");
}
END_TEST

static int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static struct spawn *new_request(const char *path)
{
	static char *argv[] = {(char *)"server", NULL};
	struct spawn *s = spawn_new();
	struct sockaddr_in *a;

	ck_assert_ptr_nonnull(s);
	a = (struct sockaddr_in *)&s->address;
	a->sin_family = AF_INET;
	a->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s->address_bytes = sizeof *a;
	s->arena_bytes = arena_size_bytes(2, ARENA_MIN_RING_BYTES);
	s->path = path;
	s->argv = argv;
	s->envp = argv + 1;
	return s;
}

START_TEST(leaves_only_the_arena_in_the_host)
{
	struct spawn *s = new_request("/bin/true");
	sigset_t before = {{0}};
	sigset_t after = {{0}};
	int n = count_descriptors();

	sigaddset(&before, SIGUSR1);
	sigprocmask(SIG_SETMASK, &before, NULL);
	ck_assert_int_eq(spawn_run(s), 0);
	ck_assert_int_gt(s->pid, 0);
	ck_assert_uint_ne(s->port, 0);
	ck_assert_int_eq(count_descriptors(), n);
	sigprocmask(SIG_SETMASK, NULL, &after);
	ck_assert_mem_eq(&before, &after, sizeof before);
	ck_assert_int_eq(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
	ck_assert_int_eq(munmap(s->arena, s->arena_bytes), 0);
	spawn_free(s);
}
END_TEST

START_TEST(says_where_a_start_failed)
{
	struct spawn *s = new_request("/does/not/exist");
	struct sockaddr_in *a = (struct sockaddr_in *)&s->address;
	socklen_t n = sizeof *a;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int n_descriptors = count_descriptors();

	ck_assert_int_eq(spawn_run(s), -ENOENT);
	ck_assert_int_eq(s->stage, SPAWN_EXEC);
	ck_assert_ptr_null(s->arena);
	a->sin_port = 0;
	ck_assert_int_eq(bind(listener, (struct sockaddr *)a, n), 0);
	ck_assert_int_eq(listen(listener, 1), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)a, &n), 0);
	ck_assert_int_eq(spawn_run(s), -EADDRINUSE);
	ck_assert_int_eq(s->stage, SPAWN_BIND);
	ck_assert_int_eq(count_descriptors(), n_descriptors);
	close(listener);
	spawn_free(s);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(takes_the_requested_server),
	UNIT_TEST(refuses_a_server_that_is_no_program),
	UNIT_TEST(does_not_overrun_a_short_buffer),
	UNIT_TEST(finds_a_server_without_being_told),
	UNIT_TEST(drops_variables_that_would_change_the_server),
	UNIT_TEST(listens_on_loopback_unless_told_otherwise),
	UNIT_TEST(refuses_addresses_that_others_can_reach),
	UNIT_TEST(refuses_addresses_that_are_not_numbers),
	UNIT_TEST(takes_the_brackets_of_ipv6_off),
	UNIT_TEST(leaves_only_the_arena_in_the_host),
	UNIT_TEST(says_where_a_start_failed),
	{NULL},
};

UNIT_MAIN("spawn", .set_up = setup, .tear_down = fake_root_remove, .tests = tests)
