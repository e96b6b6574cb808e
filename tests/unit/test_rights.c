/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests finding the rights that a program has given up since its server started, in a fake /proc.
 */
#include "daemon/target/rights.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

static struct diag d;

static void write_status(const char *process, const char *uid, const char *groups,
	const char *capabilities, const char *seccomp)
{
	char path[64];
	char text[512];

	snprintf(path, sizeof path, "/proc/%s/status", process);
	snprintf(text, sizeof text,
		"Name:\tUid:\t0\nUid:\t%s\nGid:\t5\t5\t5\t5\nGroups:\t%s\nCapEff:\t%s\nSeccomp:\t%s\n"
		"Speculation_Store_Bypass:\tvulnerable\n",
		uid, groups, capabilities, seccomp);
	fake_root_write(path, text);
}

static void set_up(void)
{
	fake_root_make();
	d = (struct diag)DIAG_INIT;
	write_status("self", "7\t7\t7\t7", "5 6 ", "0000000000000003", "0");
}

static int check_that(
	const char *uid, const char *groups, const char *capabilities, const char *seccomp)
{
	write_status("42", uid, groups, capabilities, seccomp);
	return rights_check(fake_root, 42, &d);
}

START_TEST(the_same_rights_are_enough)
{
	ck_assert_int_eq(check_that("7\t7\t7\t7", "5 6 ", "0000000000000003", "0"), 0);
	/* These are more capabilities than ours. */
	ck_assert_int_eq(check_that("7\t7\t7\t7", "5 6 ", "000001ffffffffff", "0"), 0);
}
END_TEST

START_TEST(different_rights_are_refused)
{
	ck_assert_int_eq(check_that("7\t8\t7\t7", "5 6 ", "0000000000000003", "0"), -EACCES);
	ck_assert_ptr_nonnull(strstr(d.text, "changed its user"));
	ck_assert_int_eq(check_that("7\t7\t7\t77", "5 6 ", "0000000000000003", "0"), -EACCES);
	ck_assert_int_eq(check_that("7\t7\t7\t7", "5 ", "0000000000000003", "0"), -EACCES);
	ck_assert_ptr_nonnull(strstr(d.text, "changed its groups"));
	ck_assert_int_eq(check_that("7\t7\t7\t7", "5 6 7 ", "0000000000000003", "0"), -EACCES);
	ck_assert_int_eq(check_that("7\t7\t7\t7", "5 6 ", "0000000000000001", "0"), -EACCES);
	ck_assert_ptr_nonnull(strstr(d.text, "changed its capabilities"));
	ck_assert_int_eq(check_that("7\t7\t7\t7", "5 6 ", "0000000000000003", "2"), -EACCES);
	ck_assert_ptr_nonnull(strstr(d.text, "changed its seccomp filter"));
}
END_TEST

START_TEST(unreadable_process_is_refused)
{
	ck_assert_int_eq(rights_check(fake_root, 42, &d), -EACCES);
	fake_root_write("/proc/42/status", "Name:\tx\n");
	ck_assert_int_eq(rights_check(fake_root, 42, &d), -EACCES);
}
END_TEST

START_TEST(another_root_directory_is_refused)
{
	fake_root_write("/proc/42/root/file", "");
	fake_root_write("/proc/self/root/file", "");
	ck_assert_int_eq(check_that("7\t7\t7\t7", "5 6 ", "0000000000000003", "0"), -EACCES);
	ck_assert_ptr_nonnull(strstr(d.text, "changed its root directory"));
}
END_TEST

/*
 * After unshare(2) the server does not see what the program mounts, and capabilities in the
 * program's new user namespace do not count in that of the server.
 */
START_TEST(another_namespace_is_refused)
{
	static const char *const names[] = {"mnt", "user"};
	char path[64];
	char words[64];

	snprintf(path, sizeof path, "/proc/42/ns/%s", names[_i]);
	fake_root_write(path, "");
	snprintf(path, sizeof path, "/proc/self/ns/%s", names[_i]);
	fake_root_write(path, "");
	ck_assert_int_eq(check_that("7\t7\t7\t7", "5 6 ", "0000000000000003", "0"), -EACCES);
	snprintf(words, sizeof words, "changed its %s", _i ? "user namespace" : "mount namespace");
	ck_assert_ptr_nonnull(strstr(d.text, words));
}
END_TEST

static const char *const places[] = {"root", "ns/mnt", "ns/user"};

#define N_PLACES (sizeof places / sizeof *places)

/*
 * Makes the links of processes 42 and self to their roots and namespaces: the first |n| links are
 * the same, and the others are missing.
 */
static void show_places(size_t n)
{
	char path[64];
	char target[128];

	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof path, "/place%zu", i);
		fake_root_add_folder(path);
		snprintf(target, sizeof target, "%s%s", fake_root, path);
		snprintf(path, sizeof path, "/proc/42/%s", places[i]);
		fake_root_link(path, target);
		snprintf(path, sizeof path, "/proc/self/%s", places[i]);
		fake_root_link(path, target);
	}
}

static int compare_with(const char *uid, const char *capabilities, const char *seccomp)
{
	write_status("42", uid, "5 6 ", capabilities, seccomp);
	return rights_compare(fake_root, 42, &d);
}

START_TEST(equal_rights_of_a_visible_stranger_are_enough)
{
	show_places(N_PLACES);
	ck_assert_int_eq(compare_with("7\t7\t7\t7", "0000000000000003", "0"), 0);
	ck_assert_int_eq(compare_with("8\t8\t8\t8", "0000000000000003", "0"), -EACCES);
	ck_assert_int_eq(compare_with("7\t7\t7\t7", "0000000000000001", "0"), -EACCES);
}
END_TEST

/* The links from |_i| on cannot be read. */
START_TEST(hidden_namespace_of_a_stranger_counts_as_another)
{
	show_places((size_t)_i);
	ck_assert_int_eq(compare_with("7\t7\t7\t7", "0000000000000003", "0"), -EACCES);
	/* The namespace of a program that has started this server is the same. */
	ck_assert_int_eq(rights_check(fake_root, 42, &d), 0);
}
END_TEST

/* Two filters cannot be compared. */
START_TEST(seccomp_filters_of_a_stranger_count_as_different)
{
	show_places(N_PLACES);
	write_status("self", "7\t7\t7\t7", "5 6 ", "0000000000000003", "2");
	ck_assert_int_eq(compare_with("7\t7\t7\t7", "0000000000000003", "2"), -EACCES);
	ck_assert_ptr_nonnull(strstr(d.text, "its seccomp filter"));
	ck_assert_int_eq(rights_check(fake_root, 42, &d), 0);
}
END_TEST

START_TEST(this_process_has_the_rights_of_this_process)
{
	ck_assert_msg(rights_check("", getpid(), &d) == 0, "%s", d.text);
	ck_assert_msg(rights_compare("", getpid(), &d) == 0, "%s", d.text);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(the_same_rights_are_enough),
	UNIT_TEST(different_rights_are_refused),
	UNIT_TEST(unreadable_process_is_refused),
	UNIT_TEST(another_root_directory_is_refused),
	UNIT_LOOP(another_namespace_is_refused, 2),
	UNIT_TEST(equal_rights_of_a_visible_stranger_are_enough),
	UNIT_LOOP(hidden_namespace_of_a_stranger_counts_as_another, (int)N_PLACES),
	UNIT_TEST(seccomp_filters_of_a_stranger_count_as_different),
	UNIT_TEST(this_process_has_the_rights_of_this_process),
	{NULL},
};

UNIT_MAIN("rights", .set_up = set_up, .tear_down = fake_root_remove, .tests = tests)
