/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/run_dir.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "tests/unit/unit.h"

#define NOW 1700000000 /* 2023-11-14 22:13:20 UTC */
#define STAMP "2023_11_14_22_13_20"

static char root[64];
static char log_dir[128];
static struct diag d;

mode_t __real_umask(mode_t mask);
mode_t __wrap_umask(mode_t mask);

static int n_umasks;

mode_t __wrap_umask(mode_t mask)
{
	n_umasks++;
	return __real_umask(mask);
}

static void setup(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	snprintf(root, sizeof root, "/tmp/test_run_dir-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	snprintf(log_dir, sizeof log_dir, "%s/a/logs/", root);
	d = (struct diag)DIAG_INIT;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void teardown(void)
{
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static int count_entries(const char *dir)
{
	struct dirent **entries;
	int n = scandir(dir, &entries, NULL, NULL);

	for (int i = 0; i < n; i++)
		free(entries[i]);
	if (n >= 0)
		free(entries);
	return n - 2; /* without . and .. */
}

/* Opens, writes |text| and publishes. Returns what publishing returned. */
static int make_file(const char *run, const char *host, const char *text, char **path)
{
	struct run_dir r;
	int error;

	ck_assert_msg(run_dir_open(&r, log_dir, run, NOW, &d) == 0, "%s", d.text);
	ck_assert_int_eq(run_dir_write(&r, (const uint8_t *)text, strlen(text), &d), 0);
	error = run_dir_publish(&r, host, path, &d);
	run_dir_close(&r);
	return error;
}

static void expect_content(const char *path, const char *text)
{
	char buffer[64] = "";
	int fd = open(path, O_RDONLY);
	ssize_t n;

	ck_assert_int_ge(fd, 0);
	n = read(fd, buffer, sizeof buffer - 1);
	close(fd);
	ck_assert_int_eq(n, (ssize_t)strlen(text));
	ck_assert_str_eq(buffer, text);
}

START_TEST(publishes_where_xprof_looks)
{
	char expected[256];
	struct stat st;
	char *path;

	umask(022);
	ck_assert_int_eq(make_file(NULL, "host_9999", "abc", &path), 0);
	snprintf(expected, sizeof expected,
		"%s/a/logs/plugins/profile/" STAMP "/host_9999.xplane.pb", root);
	ck_assert_str_eq(path, expected);
	expect_content(path, "abc");
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0644);
	*strrchr(expected, '/') = '\0';
	ck_assert_int_eq(count_entries(expected), 1);
	free(path);
}
END_TEST

START_TEST(gives_a_second_run_of_the_same_second_a_suffix)
{
	char *first, *second, *third;

	ck_assert_int_eq(make_file(NULL, "h", "1", &first), 0);
	ck_assert_int_eq(make_file(NULL, "h", "2", &second), 0);
	ck_assert_int_eq(make_file(NULL, "h", "3", &third), 0);
	ck_assert_ptr_nonnull(strstr(first, "/" STAMP "/h.xplane.pb"));
	ck_assert_ptr_nonnull(strstr(second, "/" STAMP "_2/h.xplane.pb"));
	ck_assert_ptr_nonnull(strstr(third, "/" STAMP "_3/h.xplane.pb"));
	expect_content(first, "1");
	free(first);
	free(second);
	free(third);
}
END_TEST

START_TEST(joins_a_named_run_and_never_overwrites)
{
	char *first, *second, *third = NULL;
	char run[256];

	ck_assert_int_eq(make_file("mine", "h1", "1", &first), 0);
	ck_assert_int_eq(make_file("mine", "h2", "2", &second), 0);
	ck_assert_int_eq(make_file("mine", "h1", "3", &third), -EEXIST);
	ck_assert_ptr_nonnull(strstr(d.text, "/mine/h1.xplane.pb: exists"));
	ck_assert_ptr_null(third);
	expect_content(first, "1");
	snprintf(run, sizeof run, "%s/a/logs/plugins/profile/mine", root);
	ck_assert_int_eq(count_entries(run), 2);
	free(first);
	free(second);
}
END_TEST

START_TEST(finds_an_existing_file_beforehand)
{
	struct run_dir r;
	char *path;

	ck_assert_int_eq(make_file("mine", "h:1", "1", &path), 0);
	ck_assert_int_eq(run_dir_open(&r, log_dir, "mine", NOW, &d), 0);
	ck_assert_int_eq(run_dir_check_free(&r, "h_1", &d), -EEXIST);
	ck_assert_int_eq(run_dir_check_free(&r, "h_2", &d), 0);
	run_dir_close(&r);
	expect_content(path, "1");
	free(path);
}
END_TEST

START_TEST(leaves_nothing_behind_when_not_published)
{
	struct run_dir r;

	ck_assert_int_eq(run_dir_open(&r, log_dir, NULL, NOW, &d), 0);
	ck_assert_int_eq(run_dir_write(&r, (const uint8_t *)"abc", 3, &d), 0);
	ck_assert_int_eq(count_entries(root), 1);
	run_dir_close(&r);
	ck_assert_int_eq(count_entries(root), 0);
}
END_TEST

START_TEST(keeps_existing_files_when_not_published)
{
	char runs[256];
	struct run_dir r;
	char *path;

	ck_assert_int_eq(make_file("mine", "h", "1", &path), 0);
	snprintf(runs, sizeof runs, "%s/a/logs/plugins/profile", root);
	ck_assert_int_eq(run_dir_open(&r, log_dir, NULL, NOW, &d), 0);
	ck_assert_int_eq(count_entries(runs), 2);
	run_dir_close(&r);
	ck_assert_int_eq(count_entries(runs), 1);
	ck_assert_int_eq(run_dir_open(&r, log_dir, "mine", NOW, &d), 0);
	run_dir_close(&r);
	expect_content(path, "1");
	free(path);
}
END_TEST

START_TEST(fails_before_recording_when_the_place_is_bad)
{
	char file[256];
	struct run_dir r;
	int fd;

	snprintf(file, sizeof file, "%s/file", root);
	fd = open(file, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(run_dir_open(&r, file, NULL, NOW, &d), -ENOTDIR);
	ck_assert_ptr_nonnull(strstr(d.text, "another log directory"));
	ck_assert_int_eq(count_entries(root), 1);
}
END_TEST

START_TEST(makes_safe_file_names)
{
	char *path;

	ck_assert_int_eq(make_file("mine", "../a b:1,é", "1", &path), 0);
	ck_assert_str_eq(strrchr(path, '/'), "/_._a_b_1___.xplane.pb");
	free(path);
	ck_assert_int_eq(make_file("mine", "", "1", &path), 0);
	ck_assert_str_eq(strrchr(path, '/'), "/_.xplane.pb");
	free(path);
}
END_TEST

START_TEST(refuses_bad_run_names)
{
	const char *const bad[] = {"", ".", "..", "a/b", "a b", "a,b", ".hidden"};
	struct run_dir r;
	char name[256];

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		ck_assert_int_eq(run_dir_open(&r, log_dir, bad[i], NOW, &d), -EINVAL);
	memset(name, 'a', sizeof name);
	name[128] = '\0';
	ck_assert_int_eq(run_dir_check_name(name, &d), -EINVAL);
	name[127] = '\0';
	ck_assert_int_eq(run_dir_check_name(name, &d), 0);
	ck_assert_int_eq(count_entries(root), 0);
}
END_TEST

/* The umask belongs to the whole process, in which other threads make files, too. */
START_TEST(leaves_the_umask_alone)
{
	struct run_dir r;
	int n_before = n_umasks;

	ck_assert_int_eq(run_dir_open(&r, log_dir, "run", NOW, &d), 0);
	ck_assert_int_eq(n_umasks, n_before);
	run_dir_close(&r);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(leaves_the_umask_alone),
	UNIT_TEST(publishes_where_xprof_looks),
	UNIT_TEST(gives_a_second_run_of_the_same_second_a_suffix),
	UNIT_TEST(joins_a_named_run_and_never_overwrites),
	UNIT_TEST(finds_an_existing_file_beforehand),
	UNIT_TEST(leaves_nothing_behind_when_not_published),
	UNIT_TEST(keeps_existing_files_when_not_published),
	UNIT_TEST(fails_before_recording_when_the_place_is_bad),
	UNIT_TEST(makes_safe_file_names),
	UNIT_TEST(refuses_bad_run_names),
	{NULL},
};

UNIT_MAIN("run_dir", .set_up = setup, .tear_down = teardown, .tests = tests)
