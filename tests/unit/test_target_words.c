/* SPDX-License-Identifier: Apache-2.0 */
#include "client/target/target_words.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "client/target/targets.h"
#include "tests/unit/unit.h"

/* Expects the words, joined by blanks. */
static void expect_words(struct target_words *w, const char *typed, const char *expected)
{
	char all[1024] = "";

	for (size_t i = 0; i < w->n; i++) {
		strcat(all, i ? " " : "");
		strcat(all, w->v[i]);
	}
	ck_assert_msg(strcmp(all, expected) == 0, "%s: %s, not %s", typed, all, expected);
	target_words_deinit(w);
}

static void expect(const char *typed, const char *expected)
{
	struct target_words w = {NULL, 0, 0};
	struct diag d = DIAG_INIT;

	ck_assert_msg(target_words_add(&w, typed, &d) == 0, "%s: %s", typed, d.text);
	expect_words(&w, typed, expected);
}

static void refuse(const char *typed, const char *words)
{
	struct target_words w = {NULL, 0, 0};
	struct diag d = DIAG_INIT;

	ck_assert_msg(target_words_add(&w, typed, &d) == -EINVAL, "%s: taken", typed);
	ck_assert_msg(strstr(d.text, words), "%s: said: %s", typed, d.text);
	target_words_deinit(&w);
}

START_TEST(splits_at_commas)
{
	expect("9999", "9999");
	expect("a:1,b:2,train", "a:1 b:2 train");
	expect("unix:/a[1],unix:/b", "unix:/a[1] unix:/b");
	refuse("a,,b", "a,,b: a target between the commas is empty");
	refuse("a,", "is empty");
	refuse(",a", "is empty");
}
END_TEST

START_TEST(expands_ranges)
{
	expect("h[1-3]:9", "h1:9 h2:9 h3:9");
	expect("h[1,3,5-7]", "h1 h3 h5 h6 h7");
	expect("h:[9000-9001],b", "h:9000 h:9001 b");
	expect("r[1-2]n[3,4]:9", "r1n3:9 r1n4:9 r2n3:9 r2n4:9");
	expect("[7-8]", "7 8");
}
END_TEST

START_TEST(keeps_zeros_in_front)
{
	expect("h[08-11]:9", "h08:9 h09:9 h10:9 h11:9");
	expect("h[001,2,10]", "h001 h2 h10");
	expect("h[9-10]", "h9 h10");
}
END_TEST

START_TEST(leaves_addresses_alone)
{
	expect("[::1]:9999,[fe80::1%eth0]:9", "[::1]:9999 [fe80::1%eth0]:9");
	expect("[::1]:[1-2]", "[::1]:1 [::1]:2");
	expect("[unix]:1", "[unix]:1");
	expect("", "");
}
END_TEST

START_TEST(refuses_bad_ranges)
{
	refuse("h[]:9", "h[]:9: bad range \"[]:9\": must be numbers and ranges");
	refuse("h[3-1]:9", "bad range");
	refuse("h[1-", "bad range");
	refuse("h[1,3", "bad range");
	refuse("h[1-3", "bad range");
	refuse("h[-3]", "bad range");
	refuse("h[1,,2]", "bad range");
	refuse("h[1-016]", "bad range");
	refuse("h[01-116]", "bad range");
	refuse("h[1-2-3]", "bad range");
	refuse("h[1234567890]", "bad range");
}
END_TEST

START_TEST(refuses_too_many)
{
	struct target_words w = {NULL, 0, 0};
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(target_words_add(&w, "h[1-4096]", &d), 0);
	ck_assert_uint_eq(w.n, 4096);
	ck_assert_int_eq(target_words_add(&w, "one", &d), -EINVAL);
	ck_assert_str_eq(d.text, "one: more than 4096 targets");
	target_words_deinit(&w);
	refuse("h[1-999999999]", "more than 4096");
	refuse("h[1-99][1-99]", "more than 4096");
}
END_TEST

static int load(const char *text, struct target_words *w, struct diag *d)
{
	char path[] = "/tmp/test_target_words-XXXXXX";
	int fd = mkstemp(path);
	int r;

	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	*w = (struct target_words){NULL, 0, 0};
	r = target_words_load(w, path, d);
	unlink(path);
	return r;
}

START_TEST(reads_files)
{
	static const char text[] = "# mine\n\n  h[1-2]:9 \t# two\r\nb:1,c:2\n#d\ne";
	struct target_words w;
	struct diag d = DIAG_INIT;

	ck_assert_msg(load(text, &w, &d) == 0, "%s", d.text);
	expect_words(&w, text, "h1:9 h2:9 b:1 c:2 e");
	ck_assert_int_eq(load("a\n\nh[1\n", &w, &d), -EINVAL);
	ck_assert_msg(strstr(d.text, ", line 3: h[1: bad range"), "said: %s", d.text);
	target_words_deinit(&w);
	ck_assert_int_eq(load("# nobody\n", &w, &d), -EINVAL);
	ck_assert_msg(strstr(d.text, "there is no target in it"), "said: %s", d.text);
	ck_assert_int_eq(target_words_load(&w, "/nonexistent", &d), -ENOENT);
	ck_assert_msg(strstr(d.text, "/nonexistent: cannot be read"), "said: %s", d.text);
}
END_TEST

/*
 * Expects that a name which |n| servers share is refused. Their pids are 1000000, 1000001 and so
 * on, two servers per pid.
 */
static void refuse_twins(size_t n, const char *expected)
{
	struct targets t = TARGETS_INIT;
	struct diag d = DIAG_INIT;

	t.v = calloc(n, sizeof *t.v);
	t.n = n;
	ck_assert_ptr_nonnull(t.v);
	for (size_t i = 0; i < n; i++) {
		t.v[i].status.pid = 1000000 + (int)(i / 2);
		strcpy(t.v[i].status.name, "worker");
	}
	ck_assert_ptr_null(targets_find_name(&t, "worker", &d));
	ck_assert_int_eq(d.code, -EINVAL);
	ck_assert_str_eq(d.text, expected);
	targets_deinit(&t);
}

START_TEST(tells_each_pid_of_a_name_once_and_marks_what_has_no_room)
{
	refuse_twins(4,
		"worker: more than one target has that name (pids 1000000, 1000001); give a pid");
	refuse_twins(80,
		"worker: more than one target has that name (pids 1000000, 1000001, 1000002, "
		"1000003, 1000004, 1000005, 1000006, 1000007, 1000008, 1000009, 1000010, "
		"1000011, 1000012, …); give a pid");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(splits_at_commas),
	UNIT_TEST(expands_ranges),
	UNIT_TEST(keeps_zeros_in_front),
	UNIT_TEST(leaves_addresses_alone),
	UNIT_TEST(refuses_bad_ranges),
	UNIT_TEST(refuses_too_many),
	UNIT_TEST(reads_files),
	UNIT_TEST(tells_each_pid_of_a_name_once_and_marks_what_has_no_room),
	{NULL},
};

UNIT_MAIN("target_words", .tests = tests)
