/* SPDX-License-Identifier: Apache-2.0 */
/* Tests files that take or give fewer bytes at a time than requested. */
#include "base/file_io.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define N_BYTES 10000

static FILE *file;
static int fd;
static uint8_t data[N_BYTES];
static uint8_t got[N_BYTES];

/* The fake kernel writes nothing when a signal comes, and otherwise few bytes at a time. */

ssize_t __real_write(int to, const void *p, size_t n);
ssize_t __real_pwrite(int to, const void *p, size_t n, off_t at);
ssize_t __real_pread(int from, void *p, size_t n, off_t at);
ssize_t __wrap_write(int to, const void *p, size_t n);
ssize_t __wrap_pwrite(int to, const void *p, size_t n, off_t at);
ssize_t __wrap_pread(int from, void *p, size_t n, off_t at);

static unsigned n_calls;

static size_t shorten(size_t n)
{
	n_calls++;
	errno = EINTR;
	return n < 997 ? n : 997;
}

ssize_t __wrap_write(int to, const void *p, size_t n)
{
	size_t n_short = shorten(n);

	return to == fd && n_calls % 3 == 0 ? -1 : __real_write(to, p, to == fd ? n_short : n);
}

ssize_t __wrap_pwrite(int to, const void *p, size_t n, off_t at)
{
	size_t n_short = shorten(n);

	return n_calls % 3 == 0 ? -1 : __real_pwrite(to, p, n_short, at);
}

ssize_t __wrap_pread(int from, void *p, size_t n, off_t at)
{
	size_t n_short = shorten(n);

	return n_calls % 3 == 0 ? -1 : __real_pread(from, p, n_short, at);
}

static void set_up(void)
{
	file = tmpfile();
	ck_assert_ptr_nonnull(file);
	fd = fileno(file);
	for (size_t i = 0; i < N_BYTES; i++)
		data[i] = (uint8_t)(i * 7 + i / 251);
}

static void tear_down(void)
{
	fclose(file);
}

START_TEST(writes_and_reads_all)
{
	ck_assert_int_eq(file_write(fd, data, 4000), 0);
	ck_assert_int_eq(file_write(fd, data + 4000, 3000), 0);
	ck_assert_int_eq(file_write_at(fd, data + 7000, 3000, 7000), 0);
	ck_assert_int_eq(file_write_at(fd, data, 0, 12345), 0);
	ck_assert_int_eq(lseek(fd, 0, SEEK_END), N_BYTES);
	ck_assert_int_eq(file_read_at(fd, got, 5000, 0), 0);
	ck_assert_int_eq(file_read_at(fd, got + 5000, 5000, 5000), 0);
	ck_assert_mem_eq(got, data, N_BYTES);
}
END_TEST

START_TEST(says_why_not_all_was_written)
{
	const struct rlimit limit = {6000, 6000};

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(file_write(fd, data, N_BYTES), -EFBIG);
	ck_assert_int_eq(lseek(fd, 0, SEEK_END), 6000);
	ck_assert_int_eq(file_write_at(fd, data + 1000, N_BYTES - 1000, 1000), -EFBIG);
	ck_assert_int_eq(file_read_at(fd, got, 6000, 0), 0);
	ck_assert_mem_eq(got, data, 6000);
	ck_assert_int_eq(file_write(-1, data, 1), -EBADF);
}
END_TEST

START_TEST(a_file_that_ends_before_is_an_error)
{
	ck_assert_int_eq(file_write(fd, data, 100), 0);
	ck_assert_int_eq(file_read_at(fd, got, 101, 0), -EIO);
	ck_assert_int_eq(file_read_at(fd, got, 1, 100), -EIO);
	ck_assert_int_eq(file_read_at(fd, got, 0, 100), 0);
}
END_TEST

START_TEST(moves_up_over_itself)
{
	ck_assert_int_eq(file_write(fd, data, N_BYTES), 0);
	ck_assert_int_eq(file_move_up(fd, 1000, N_BYTES, 7), 0);
	ck_assert_int_eq(file_read_at(fd, got, N_BYTES - 1000, 1007), 0);
	ck_assert_mem_eq(got, data + 1000, N_BYTES - 1000);
	ck_assert_int_eq(file_move_up(fd, 0, N_BYTES + 8, 1), -EIO);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(writes_and_reads_all),
	UNIT_TEST(says_why_not_all_was_written),
	UNIT_TEST(a_file_that_ends_before_is_an_error),
	UNIT_TEST(moves_up_over_itself),
	{NULL},
};

UNIT_MAIN("file_io", .set_up = set_up, .tear_down = tear_down, .tests = tests)
