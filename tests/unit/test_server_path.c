/* SPDX-License-Identifier: Apache-2.0 */
/* Tests where proftapd is searched, and that the error names these places. */
#include "base/server_path.h"

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

static char found[PATH_MAX];
static struct diag d;

static void set_up(void)
{
	fake_root_make();
	unsetenv("PROFTAPD");
	setenv("PATH", "/nonexistent", 1);
}

/* Returns true if the search fails. An installed proftapd is found in any case. */
static bool is_missing(const char *library)
{
	int r = server_path_find(library, found, sizeof found, &d);

	ck_assert(r == 0 || r == -ENOENT);
	return r == -ENOENT;
}

START_TEST(the_folders_that_were_searched_are_named)
{
	const char *places = ", in /opt/app and ../sbin from there, and in PATH); install it";

	if (is_missing("/opt/app/program"))
		ck_assert_ptr_nonnull(strstr(d.text, places));
}
END_TEST

START_TEST(no_folder_is_named_if_the_library_is_unknown)
{
	if (is_missing(NULL))
		ck_assert_ptr_nonnull(strstr(d.text, "proftapd and in PATH); install"));
}
END_TEST

START_TEST(sbin_beside_the_librarys_folder_is_searched)
{
	char path[PATH_MAX];

	fake_root_write("/bin/program", "");
	fake_root_write("/sbin/proftapd", "");
	snprintf(path, sizeof path, "%s/sbin/proftapd", fake_root);
	ck_assert_int_eq(chmod(path, 0755), 0);
	snprintf(path, sizeof path, "%s/bin/program", fake_root);
	ck_assert(!is_missing(path));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(the_folders_that_were_searched_are_named),
	UNIT_TEST(no_folder_is_named_if_the_library_is_unknown),
	UNIT_TEST(sbin_beside_the_librarys_folder_is_searched),
	{NULL},
};

UNIT_MAIN("server_path", .set_up = set_up, .tear_down = fake_root_remove, .tests = tests)
