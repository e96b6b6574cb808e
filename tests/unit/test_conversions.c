/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the cache of conversions: it finds them again for the same files, for a
 * while, and within a limit.
 */
#include "daemon/host/web/conversions.h"

#include <check.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

static const char *const report[] = {"report", "--json", ".", NULL};
static const char *const perfetto[] = {"convert", ".", "perfetto", NULL};

static struct conversions conversions;
static int dir_fd;
static int made_fd; /* the output of proftap */

/* Makes the file look old. */
static void age_file(const char *name, long nanoseconds)
{
	const struct timespec times[2] = {{.tv_sec = 1700000000}, {1700000000, nanoseconds}};

	ck_assert_int_eq(utimensat(dir_fd, name, times, 0), 0);
}

static void write_file(const char *name, const char *text)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	age_file(name, 500);
}

static void set_up(void)
{
	fake_root_make();
	dir_fd = open(fake_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(dir_fd, 0);
	write_file("one.xplane.pb", "one");
	write_file("two.xplane.pb", "two");
	made_fd = openat(dir_fd, ".made", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	ck_assert_int_eq(write(made_fd, "made", 4), 4);
	conversions_init(&conversions);
}

static void tear_down(void)
{
	conversions_deinit(&conversions);
	close(made_fd);
	close(dir_fd);
	fake_root_remove();
}

/* Returns a key that the caller owns. */
static char *make_key(const char *name, const char *const *argv)
{
	char *key = conversions_make_key(dir_fd, name, argv);

	ck_assert_ptr_nonnull(key);
	return key;
}

static void keep(const char *name, const char *const *argv, uint64_t n_bytes)
{
	conversions_keep(&conversions, make_key(name, argv), made_fd, n_bytes);
}

/* Returns whether the cache has exactly this conversion. */
static bool has(const char *name, const char *const *argv)
{
	char *key = make_key(name, argv);
	char text[8] = "";
	uint64_t n_bytes;
	int fd = conversions_find(&conversions, key, &n_bytes);

	free(key);
	if (fd < 0)
		return false;
	ck_assert_int_eq(pread(fd, text, sizeof text, 0), 4);
	ck_assert_str_eq(text, "made");
	close(fd);
	return true;
}

START_TEST(kept_conversion_is_found_again)
{
	struct conversion_counts counts;

	ck_assert(!has("run", report));
	keep("run", report, 4);
	ck_assert(has("run", report));
	ck_assert(!has("run", perfetto));
	ck_assert(!has("other", report));
	conversions_count(&conversions, &counts);
	ck_assert_uint_eq(counts.n_made, 1);
	ck_assert_uint_eq(counts.n_found, 1);
	ck_assert_uint_eq(counts.n_bytes, 4);
	/* A second client has made the same conversion at the same time. */
	keep("run", report, 4);
	conversions_count(&conversions, &counts);
	ck_assert_uint_eq(counts.n_made, 2);
	ck_assert_uint_eq(counts.n_bytes, 4);
}
END_TEST

START_TEST(other_files_are_another_run)
{
	keep("run", report, 4);
	write_file("three.xplane.pb", "three");
	ck_assert(!has("run", report));
	ck_assert_int_eq(unlinkat(dir_fd, "three.xplane.pb", 0), 0);
	ck_assert(has("run", report));
	/* This file has the same size and time, but other bytes. */
	ck_assert_int_eq(renameat(dir_fd, "one.xplane.pb", dir_fd, ".old"), 0);
	write_file("one.xplane.pb", "eno");
	ck_assert(!has("run", report));
	ck_assert_int_eq(renameat(dir_fd, ".old", dir_fd, "one.xplane.pb"), 0);
	ck_assert(has("run", report));
	age_file("one.xplane.pb", 501);
	ck_assert(!has("run", report));
	age_file("one.xplane.pb", 500);
	ck_assert(has("run", report));
	write_file("two.xplane.pb", "longer");
	ck_assert(!has("run", report));
}
END_TEST

START_TEST(conversion_of_a_file_just_written_is_not_kept)
{
	const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};

	ck_assert_int_eq(utimensat(dir_fd, "one.xplane.pb", now, 0), 0);
	ck_assert_ptr_null(conversions_make_key(dir_fd, "run", report));
	/* The conversion was made in spite of that. */
	conversions_keep(&conversions, NULL, made_fd, 4);
	age_file("one.xplane.pb", 500);
	ck_assert(!has("run", report));
}
END_TEST

START_TEST(a_run_of_very_many_files_is_not_kept)
{
	char name[32];

	for (unsigned i = 0; i < 300; i++) {
		snprintf(name, sizeof name, "%u.xplane.pb", i);
		write_file(name, "");
	}
	ck_assert_ptr_null(conversions_make_key(dir_fd, "run", report));
}
END_TEST

static void name_run(unsigned i, char out[static 16])
{
	snprintf(out, 16, "run%u", i);
}

static void keep_many(unsigned n, uint64_t n_bytes)
{
	char name[16];

	for (unsigned i = 0; i < n; i++) {
		name_run(i, name);
		keep(name, report, n_bytes);
	}
}

START_TEST(the_least_used_makes_room)
{
	keep_many(CONVERSIONS_KEPT, 4);
	ck_assert(has("run0", report));
	keep("more", report, 4);
	ck_assert(has("more", report));
	ck_assert(has("run0", report));
	ck_assert(!has("run1", report));
	ck_assert(has("run2", report));
}
END_TEST

START_TEST(conversions_are_bounded_in_bytes)
{
	struct conversion_counts counts;

	keep_many(3, CONVERSIONS_BYTES / 3);
	ck_assert(has("run0", report));
	keep("large", report, CONVERSIONS_BYTES / 2);
	conversions_count(&conversions, &counts);
	ck_assert_uint_le(counts.n_bytes, CONVERSIONS_BYTES);
	ck_assert(has("large", report));
	ck_assert(has("run0", report));
	ck_assert(!has("run1", report));
	ck_assert(!has("run2", report));
	/* A conversion that exceeds the whole cache displaces nothing. */
	keep("huge", report, CONVERSIONS_BYTES + 1);
	ck_assert(!has("huge", report));
	ck_assert(has("large", report));
}
END_TEST

START_TEST(conversions_of_a_deleted_run_are_forgotten)
{
	struct conversion_counts counts;

	keep("run", report, 4);
	keep("run", perfetto, 4);
	keep("run2", report, 4);
	keep("ru", report, 4);
	conversions_forget(&conversions, "run");
	ck_assert(!has("run", report));
	ck_assert(!has("run", perfetto));
	ck_assert(has("run2", report));
	ck_assert(has("ru", report));
	conversions_count(&conversions, &counts);
	ck_assert_uint_eq(counts.n_bytes, 8);
}
END_TEST

START_TEST(unused_conversions_expire)
{
	int64_t now_ms = monotonic_ns() / NS_PER_MS;

	keep("run", report, 4);
	conversions_age(&conversions, now_ms + CONVERSIONS_MS - 1000);
	ck_assert(has("run", report));
	conversions_age(&conversions, now_ms + CONVERSIONS_MS + 60000);
	ck_assert(!has("run", report));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(kept_conversion_is_found_again),
	UNIT_TEST(other_files_are_another_run),
	UNIT_TEST(conversion_of_a_file_just_written_is_not_kept),
	UNIT_TEST(a_run_of_very_many_files_is_not_kept),
	UNIT_TEST(the_least_used_makes_room),
	UNIT_TEST(conversions_are_bounded_in_bytes),
	UNIT_TEST(conversions_of_a_deleted_run_are_forgotten),
	UNIT_TEST(unused_conversions_expire),
	{NULL},
};

UNIT_MAIN("conversions", .set_up = set_up, .tear_down = tear_down, .tests = tests)
