/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a file that another thread writes: the bytes are the same, and
 * errors are reported at the end.
 */
#include "client/process/write_behind.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file_io.h"
#include "tests/unit/unit.h"

/* This exceeds several times what is written at once. */
#define N_BYTES (10u << 20)

static uint8_t byte_at(size_t i)
{
	return (uint8_t)(i ^ i >> 8 ^ i >> 16);
}

/* Writes |piece| bytes at a time, and fewer at the end. Returns 0 or the first error. */
static int write_all(struct write_behind *w, size_t n, size_t piece)
{
	uint8_t *bytes = malloc(n);
	int r = 0;

	ck_assert_ptr_nonnull(bytes);
	for (size_t i = 0; i < n; i++)
		bytes[i] = byte_at(i);
	for (size_t at = 0; at < n && !r; at += piece)
		r = write_behind_write(w, bytes + at, n - at < piece ? n - at : piece);
	free(bytes);
	return r;
}

static const struct {
	size_t n;
	size_t piece;
} cases[] = {{3, 2}, {N_BYTES, 1 << 20}, {N_BYTES + 12345, 77777}, {N_BYTES, N_BYTES}};

START_TEST(the_file_has_the_written_bytes)
{
	int fd = memfd_create("written", MFD_CLOEXEC);
	struct write_behind *w = write_behind_new(fd);
	uint8_t *got = malloc(cases[_i].n);

	ck_assert_ptr_nonnull(got);
	ck_assert_int_eq(write_all(w, cases[_i].n, cases[_i].piece), 0);
	ck_assert_int_eq(write_behind_finish(w), 0);
	ck_assert_int_eq(lseek(fd, 0, SEEK_END), cases[_i].n);
	ck_assert_int_eq(file_read_at(fd, got, cases[_i].n, 0), 0);
	for (size_t i = 0; i < cases[_i].n; i++)
		if (got[i] != byte_at(i))
			ck_abort_msg("byte %zu", i);
	write_behind_free(w);
	free(got);
	close(fd);
}
END_TEST

START_TEST(an_error_is_reported_and_stays)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct write_behind *w = write_behind_new(fd);

	write_all(w, cases[_i].n, cases[_i].piece);
	ck_assert_int_eq(write_behind_finish(w), -ENOSPC);
	ck_assert_int_eq(write_behind_write(w, (const uint8_t *)"more", 4), -ENOSPC);
	ck_assert_int_eq(write_behind_finish(w), -ENOSPC);
	write_behind_free(w);
	close(fd);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(the_file_has_the_written_bytes, sizeof cases / sizeof *cases),
	UNIT_LOOP(an_error_is_reported_and_stays, sizeof cases / sizeof *cases),
	{NULL},
};

UNIT_MAIN("write_behind", .timeout_s = 60, .tests = tests)
