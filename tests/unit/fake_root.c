/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary folder that stands for "/"; see fake_root.h. */
#include "tests/unit/fake_root.h"

#include <check.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char fake_root[64];

void fake_root_make(void)
{
	strcpy(fake_root, "/tmp/proftap-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(fake_root));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

void fake_root_remove(void)
{
	nftw(fake_root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_folders(char *path)
{
	for (char *slash = strchr(path + strlen(fake_root) + 1, '/'); slash;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ck_assert(mkdir(path, 0700) == 0 || errno == EEXIST);
		*slash = '/';
	}
}

void fake_root_write(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof full, "%s%s", fake_root, path);
	make_folders(full);
	f = fopen(full, "we");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

void fake_root_link(const char *path, const char *target)
{
	char full[512];

	snprintf(full, sizeof full, "%s%s", fake_root, path);
	make_folders(full);
	unlink(full);
	ck_assert_int_eq(symlink(target, full), 0);
}

void fake_root_add_folder(const char *path)
{
	char full[512];

	snprintf(full, sizeof full, "%s%s/", fake_root, path);
	make_folders(full);
}
