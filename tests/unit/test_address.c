/* SPDX-License-Identifier: Apache-2.0 */
#include "client/target/address.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "tests/unit/unit.h"

static void expect(const char *typed, const char *host_option, const char *host, unsigned int port,
	const char *text)
{
	struct diag d = DIAG_INIT;
	struct address a;

	ck_assert_msg(address_parse(typed, host_option, &a, &d) == 0, "%s: %s", typed, d.text);
	ck_assert_str_eq(a.host, host);
	ck_assert_uint_eq(a.port, port);
	ck_assert_str_eq(a.text, text);
}

static void refuse(const char *typed, const char *host_option, const char *words)
{
	struct diag d = DIAG_INIT;
	struct address a;

	ck_assert_int_eq(address_parse(typed, host_option, &a, &d), -EINVAL);
	ck_assert_msg(strstr(d.text, words), "%s: said: %s", typed, d.text);
}

START_TEST(takes_a_bare_port)
{
	expect("9999", NULL, "localhost", 9999, "localhost:9999");
	expect("1", "example.org", "example.org", 1, "example.org:1");
	expect("65535", "::1", "::1", 65535, "[::1]:65535");
	expect("65535", "[::1]", "::1", 65535, "[::1]:65535");
}
END_TEST

static bool is_here(const char *typed)
{
	struct diag d = DIAG_INIT;
	struct address a;

	ck_assert_msg(address_parse(typed, NULL, &a, &d) == 0, "%s: %s", typed, d.text);
	return address_is_here(&a);
}

START_TEST(tells_this_machine_by_its_names)
{
	ck_assert(is_here("9999") && is_here("localhost:1") && is_here("127.0.0.2:1"));
	ck_assert(is_here("train.localhost:1") && !is_here("localhost.example:1"));
	ck_assert(is_here("[::1]:1") && is_here("unix:/run/a.sock"));
	ck_assert(!is_here("node:1") && !is_here("128.0.0.1:1") && !is_here("[::2]:1"));
}
END_TEST

START_TEST(takes_host_and_port)
{
	expect("127.0.0.1:9999", NULL, "127.0.0.1", 9999, "127.0.0.1:9999");
	expect("node-3.cluster:80", NULL, "node-3.cluster", 80, "node-3.cluster:80");
	expect("grpc://node:80", NULL, "node", 80, "node:80");
}
END_TEST

START_TEST(takes_ipv6_in_brackets)
{
	expect("[::1]:9999", NULL, "::1", 9999, "[::1]:9999");
	expect("[fe80::1%eth0]:9", NULL, "fe80::1%eth0", 9, "[fe80::1%eth0]:9");
}
END_TEST

START_TEST(refuses_bad_ports)
{
	refuse("0", NULL, "1 to 65535");
	refuse("4194305", NULL, "1 to 65535");
	refuse("99999999999999999999999", NULL, "1 to 65535");
	refuse("host:", NULL, "1 to 65535");
	refuse("host:+5", NULL, "1 to 65535");
	refuse("host:5x", NULL, "1 to 65535");
	refuse("[::1]:-5", NULL, "1 to 65535");
}
END_TEST

START_TEST(refuses_bad_hosts)
{
	refuse("", NULL, "HOST:PORT");
	refuse("a b", NULL, "HOST:PORT");
	refuse("a/b", NULL, "name of a target");
	refuse(":9999", NULL, "no host");
	refuse("[]:9999", NULL, "[ADDRESS]:PORT");
	refuse("[unix]:9999", NULL, "[ADDRESS]:PORT");
	refuse("grpc://", NULL, "empty");
	refuse("::1:9999", NULL, "brackets");
	refuse("[::1]", NULL, "[ADDRESS]:PORT");
	refuse("[::1:9999", NULL, "[ADDRESS]:PORT");
	refuse("a/b:9999", NULL, "not a host's name");
	refuse("a b:9999", NULL, "not a host's name");
}
END_TEST

START_TEST(refuses_a_second_host)
{
	refuse("other:9999", "example.org", "--host");
	refuse("[::1]:9999", "example.org", "--host");
}
END_TEST

START_TEST(refuses_a_host_that_does_not_fit)
{
	char typed[400];

	memset(typed, 'a', sizeof typed);
	memcpy(typed + sizeof typed - 6, ":9999", 6);
	refuse(typed, NULL, "too long");
}
END_TEST

START_TEST(takes_a_socket)
{
	struct diag d = DIAG_INIT;
	struct address a;

	ck_assert_int_eq(address_parse("unix:/run/proftap/7.sock", NULL, &a, &d), 0);
	ck_assert_str_eq(a.path, "/run/proftap/7.sock");
	ck_assert_str_eq(a.text, "unix:/run/proftap/7.sock");
	ck_assert_uint_eq(a.port, 0);
	refuse("unix:", NULL, "1 to 107 bytes");
	refuse("unix:/run/x", "example.org", "--host");
}
END_TEST

static void expect_lookup(const char *typed)
{
	struct diag d = DIAG_INIT;
	struct address a;

	ck_assert_msg(address_parse(typed, NULL, &a, &d) == 0, "%s: %s", typed, d.text);
	ck_assert_str_eq(a.lookup, typed);
	ck_assert_str_eq(a.text, typed);
	ck_assert_uint_eq(a.port, 0);
}

START_TEST(takes_pids_and_names)
{
	expect_lookup("65536");
	expect_lookup("4194304");
	expect_lookup("train");
	expect_lookup("7zip");
	refuse("train", "example.org", "--host");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(takes_a_bare_port),
	UNIT_TEST(tells_this_machine_by_its_names),
	UNIT_TEST(takes_host_and_port),
	UNIT_TEST(takes_ipv6_in_brackets),
	UNIT_TEST(refuses_bad_ports),
	UNIT_TEST(refuses_bad_hosts),
	UNIT_TEST(refuses_a_second_host),
	UNIT_TEST(refuses_a_host_that_does_not_fit),
	UNIT_TEST(takes_a_socket),
	UNIT_TEST(takes_pids_and_names),
	{NULL},
};

UNIT_MAIN("address", .tests = tests)
