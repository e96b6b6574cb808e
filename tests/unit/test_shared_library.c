/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the reasons of shared libraries that cannot be used. */
#include "base/shared_library.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "tests/unit/unit.h"

#define NAME(path)                                                           \
	&(struct shared_library_name)                                        \
	{                                                                    \
		.file = (path), .use = "testing needs it", .package = "none" \
	}

/* Returns the message, which is valid until the next call. */
static const char *find_failure(const struct shared_library *l)
{
	static struct diag d;
	void *functions[1] = {NULL};

	ck_assert_int_eq(shared_library_open(l, functions, &d), -ENOSYS);
	ck_assert_ptr_null(functions[0]);
	return d.text;
}

START_TEST(a_library_that_is_not_there_is_named_once)
{
	const struct shared_library l = {.name = NAME("libnone.so.7")};

	const char *text = find_failure(&l);

	ck_assert_ptr_eq(strstr(text, "libnone.so.7 cannot be loaded ("), text);
	ck_assert_ptr_null(strstr(text, "(libnone.so.7"));
	ck_assert_ptr_nonnull(strstr(text,
		"No such file or directory), and testing needs it; install it (Debian: none)"));
}
END_TEST

START_TEST(a_broken_file_has_the_loaders_reason)
{
	char path[] = "/tmp/libbrokenXXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);
	const struct shared_library l = {.name = NAME(path)};
	const char *text;

	ck_assert_int_eq(write(fd, "no library", 10), 10);
	close(fd);
	text = find_failure(&l);
	ck_assert_ptr_nonnull(strstr(text, "cannot be loaded ("));
	ck_assert_ptr_null(strstr(text, "()"));
	ck_assert_ptr_null(strstr(text, "No such file"));
	unlink(path);
}
END_TEST

START_TEST(a_function_that_is_missing_is_named)
{
	static const struct shared_library_function function = {"no_such_function", 0};
	const struct shared_library l = {
		.name = NAME("libc.so.6"), .functions = &function, .n_functions = 1};

	ck_assert_str_eq(
		find_failure(&l), "libc.so.6: has no no_such_function; install a newer one");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_library_that_is_not_there_is_named_once),
	UNIT_TEST(a_broken_file_has_the_loaders_reason),
	UNIT_TEST(a_function_that_is_missing_is_named),
	{NULL},
};

UNIT_MAIN("shared_library", .tests = tests)
