/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests finding the libraries that a process has mapped, in texts of our own and in this process.
 */
#include "daemon/kernel/mapped.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

#define PID 42
#define CUDA_LINE \
	"7f0000000000-7f0000100000 r-xp 00000000 08:01 1234    /usr/lib/x/libcuda.so.580.65.06\n"
#define OTHER_VENDOR_LINE \
	"7f0000000000-7f0000100000 r-xp 00000000 08:01 1234    /usr/lib/x/libother_vendor.so.1\n"
#define OTHER_LINE \
	"7f0000200000-7f0000300000 r-xp 00000000 08:01 1235    /usr/lib/x/libcudart.so.13\n"

/* The second name is the longest one, which decides how many bytes of a piece are kept. */
static const char *name_at(unsigned i)
{
	const char *const names[] = {"libcuda.so", "libother_vendor.so", NULL};

	return names[i];
}

static const char *libc_name_at(unsigned i)
{
	const char *const names[] = {"libother.so", "libc.so", NULL};

	return names[i];
}

static struct mapped_search search;

static void set_up(void)
{
	fake_root_make();
	search = MAPPED_SEARCH_INIT;
}

static void tear_down(void)
{
	mapped_search_end(&search);
	fake_root_remove();
}

static void begin(const char *text)
{
	fake_root_write("/proc/42/maps", text);
	ck_assert_int_eq(mapped_search_begin(&search, fake_root, PID, name_at), 0);
}

static int look_at(const char *text)
{
	begin(text);
	return mapped_search_step(&search, SIZE_MAX);
}

START_TEST(finds_a_library_by_how_its_name_begins)
{
	ck_assert_int_eq(look_at(OTHER_LINE CUDA_LINE OTHER_LINE), MAPPED_YES);
	ck_assert_int_lt(search.fd, 0);
}
END_TEST

START_TEST(finds_a_library_by_its_second_name)
{
	ck_assert_int_eq(look_at(OTHER_LINE OTHER_VENDOR_LINE OTHER_LINE), MAPPED_YES);
}
END_TEST

START_TEST(does_not_find_libraries_of_other_names)
{
	ck_assert_int_eq(look_at(OTHER_LINE), MAPPED_NO);
	ck_assert_int_eq(look_at("1-2 r--p 0 0:0 7 /usr/lib/mylibcuda.so.1\n"), MAPPED_NO);
	ck_assert_int_eq(look_at(""), MAPPED_NO);
	ck_assert_int_lt(search.fd, 0);
}
END_TEST

/* The name is found wherever the first piece ends. */
START_TEST(finds_a_name_that_lies_across_two_pieces)
{
	char *text = malloc(8192);

	for (size_t before = 4000; before < 4200; before++) {
		memset(text, 'x', before);
		strcpy(text + before, "/libcuda.so.1\n");
		ck_assert_msg(look_at(text) == MAPPED_YES, "behind %zu bytes", before);
		strcpy(text + before, "/libother_vendor.so.1\n");
		ck_assert_msg(look_at(text) == MAPPED_YES, "behind %zu bytes", before);
	}
	free(text);
}
END_TEST

START_TEST(reads_a_bounded_amount_at_a_time)
{
	size_t n = 0;
	char *text = malloc(1 << 20);
	int n_steps = 0;
	int r;

	while (n < (1 << 20) - 400)
		n += (size_t)sprintf(text + n, "%s", OTHER_LINE);
	strcpy(text + n, CUDA_LINE);
	begin(text);
	while ((r = mapped_search_step(&search, MAPPED_STEP_BYTES)) == MAPPED_MORE)
		n_steps++;
	ck_assert_int_eq(r, MAPPED_YES);
	ck_assert_int_eq(n_steps, 15);
	free(text);
}
END_TEST

START_TEST(says_that_a_process_is_gone)
{
	ck_assert_int_eq(mapped_search_begin(&search, fake_root, 43, name_at), -ENOENT);
}
END_TEST

START_TEST(finds_the_libraries_of_this_process)
{
	ck_assert_int_eq(mapped_search_begin(&search, "", getpid(), libc_name_at), 0);
	ck_assert_int_eq(mapped_search_step(&search, SIZE_MAX), MAPPED_YES);
	ck_assert_int_eq(mapped_search_begin(&search, "", getpid(), name_at), 0);
	ck_assert_int_eq(mapped_search_step(&search, SIZE_MAX), MAPPED_NO);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(finds_a_library_by_how_its_name_begins),
	UNIT_TEST(finds_a_library_by_its_second_name),
	UNIT_TEST(does_not_find_libraries_of_other_names),
	UNIT_TEST(finds_a_name_that_lies_across_two_pieces),
	UNIT_TEST(reads_a_bounded_amount_at_a_time),
	UNIT_TEST(says_that_a_process_is_gone),
	UNIT_TEST(finds_the_libraries_of_this_process),
	{NULL},
};

UNIT_MAIN("mapped", .set_up = set_up, .tear_down = tear_down, .tests = tests)
