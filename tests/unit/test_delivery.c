/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a delivery's bytes come out as they went in, in pieces of any size, and are
 * freed however many were read.
 */
#include "daemon/pipeline/assembly/delivery.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "daemon/pipeline/assembly/spool.h"
#include "tests/unit/unit.h"
#include "trace/run_dir.h"
#include "trace/xspace/graft.h"

#define N_BYTES (2 * CHUNK_BYTES + 1000)

static uint8_t *expected;
static uint8_t *got;

static void setup(void)
{
	expected = malloc(N_BYTES);
	got = calloc(1, N_BYTES);
	for (size_t i = 0; i < N_BYTES; i++)
		expected[i] = (uint8_t)(i * 7 + i / 251);
}

static void teardown(void)
{
	free(expected);
	free(got);
}

static void give_back(void *lender)
{
	ck_assert_ptr_eq(lender, expected);
}

/* Makes a delivery of some owned and some lent bytes. */
static struct delivery *from_chunks(void)
{
	struct chunks c = CHUNKS_INIT;
	struct delivery *d = NULL;

	for (size_t at = 0; at < CHUNK_BYTES; at += 256)
		chunks_append(&c, expected + at, 256);
	chunks_lend(&c, expected + CHUNK_BYTES, N_BYTES - CHUNK_BYTES, give_back, expected);
	ck_assert_int_eq(delivery_new_from_chunks(&c, &d), 0);
	ck_assert_uint_eq(c.total_bytes, 0);
	ck_assert_uint_eq(delivery_get_bytes(d), N_BYTES);
	return d;
}

/* Reads up to |n| bytes, |step| at a time. */
static size_t read_up_to(struct delivery *d, size_t n, size_t step)
{
	size_t done = 0;

	while (done < n) {
		size_t want = n - done < step ? n - done : step;
		ssize_t r = delivery_read(d, got + done, want);

		ck_assert_int_ge(r, 0);
		ck_assert_int_le(r, (ssize_t)want);
		if (r == 0)
			break;
		done += (size_t)r;
	}
	return done;
}

static const size_t steps[] = {61, 4093, CHUNK_BYTES, N_BYTES};
#define N_STEPS ((int)(sizeof steps / sizeof steps[0]))

static void check_reads_all(struct delivery *d, size_t step)
{
	ck_assert_uint_eq(read_up_to(d, N_BYTES, step), N_BYTES);
	ck_assert_int_eq(delivery_read(d, got, 1), 0);
	ck_assert_mem_eq(got, expected, N_BYTES);
}

START_TEST(reads_all_in_any_pieces)
{
	struct delivery *d = from_chunks();

	check_reads_all(d, steps[_i]);
	ck_assert_uint_eq(delivery_get_bytes(d), N_BYTES);
	delivery_free(d);
}
END_TEST

START_TEST(gives_all_or_an_error)
{
	struct delivery *d = from_chunks();

	ck_assert_int_eq(delivery_read_all(d, got, 77), 0);
	ck_assert_int_eq(delivery_read_all(d, got + 77, N_BYTES - 77 - 5), 0);
	ck_assert_mem_eq(got, expected, N_BYTES - 5);
	ck_assert_int_eq(delivery_read_all(d, got, 6), -EIO);
	ck_assert_int_eq(delivery_read_all(d, got, 0), 0);
	delivery_free(d);
}
END_TEST

START_TEST(gives_the_rest_as_chunks)
{
	static const size_t read_before[] = {0, 1, CHUNK_BYTES, CHUNK_BYTES + 77, N_BYTES};
	struct delivery *d = from_chunks();
	struct chunks rest = CHUNKS_INIT;
	size_t at = read_up_to(d, read_before[_i], 999);

	delivery_take_chunks(d, &rest);
	delivery_free(d);
	ck_assert_int_eq(rest.error, 0);
	ck_assert_uint_eq(rest.total_bytes, N_BYTES - at);
	for (size_t i = 0; i < rest.n_chunks; i++) {
		if (rest.chunks[i].used_bytes)
			ck_assert_mem_eq(
				rest.chunks[i].data, expected + at, rest.chunks[i].used_bytes);
		at += rest.chunks[i].used_bytes;
	}
	ck_assert_uint_eq(at, N_BYTES);
	for (size_t i = 0; i < N_BYTES; i++)
		if (expected[i] != (uint8_t)(i * 7 + i / 251))
			ck_abort_msg("byte %zu of what was lent has changed", i);
	chunks_deinit(&rest);
}
END_TEST

START_TEST(is_freed_half_read)
{
	struct delivery *d = from_chunks();

	read_up_to(d, CHUNK_BYTES + 5, CHUNK_BYTES);
	ck_assert_ptr_null(delivery_free(d));
	ck_assert_ptr_null(delivery_free(NULL));
	ck_assert_uint_eq(delivery_get_bytes(NULL), 0);
}
END_TEST

START_TEST(keeps_an_error_of_the_chunks)
{
	struct chunks c = {.error = -ENOMEM};
	struct delivery *d = NULL;

	ck_assert_int_eq(delivery_new_from_chunks(&c, &d), -ENOMEM);
	ck_assert_ptr_null(d);
}
END_TEST

/*
 * Joins two deliveries, which give the expected bytes. The first is a graft: its two ranges are in
 * a file in the other order, and its frame ends with 100 bytes.
 */
static struct delivery *from_graft(void)
{
	struct spool *spool;
	struct diag diag = DIAG_INIT;
	struct graft g = {.data = NULL};
	struct graft_range ranges[] = {{1000, 5000, 70000}, {1000, 0, 5000}};
	struct chunks c = CHUNKS_INIT;
	struct chunks rest = CHUNKS_INIT;
	struct delivery *d;
	struct delivery *next;
	uint64_t at;

	ck_assert_int_eq(spool_new(NULL, 1 << 20, &spool, &diag), 0);
	chunks_append(&c, expected + 71000, 5000);
	chunks_append(&c, expected + 1000, 70000);
	ck_assert_int_eq(spool_append(spool, &c, &at), 0);
	chunks_deinit(&c);
	g.ranges = ranges;
	g.n_ranges = 2;
	chunks_append(&g.frame, expected, 1000);
	chunks_append(&g.frame, expected + 76000, 100);
	g.total_bytes = 76100;
	ck_assert_int_eq(delivery_new_from_graft(&g, spool, &d), 0);
	spool_release(spool);
	chunks_append(&rest, expected + 76100, N_BYTES - 76100);
	ck_assert_int_eq(delivery_new_from_chunks(&rest, &next), 0);
	delivery_append(d, next);
	ck_assert_uint_eq(delivery_get_bytes(d), N_BYTES);
	return d;
}

START_TEST(reads_data_from_several_places)
{
	struct delivery *d = from_graft();

	check_reads_all(d, steps[_i]);
	delivery_free(d);
}
END_TEST

START_TEST(gives_data_from_several_places_without_a_copy)
{
	struct delivery *d = from_graft();
	struct chunks to = CHUNKS_INIT;
	size_t done = 0;

	delivery_take_chunks(d, &to);
	ck_assert_int_eq(to.error, 0);
	/* The mapping stays when the delivery is freed. */
	delivery_free(d);
	ck_assert_uint_eq(to.total_bytes, N_BYTES);
	for (size_t i = 0; i < to.n_chunks; i++) {
		memcpy(got + done, to.chunks[i].data, to.chunks[i].used_bytes);
		done += to.chunks[i].used_bytes;
	}
	ck_assert_mem_eq(got, expected, N_BYTES);
	chunks_deinit(&to);
}
END_TEST

/* Makes a run below |log_dir| of |d|, which is freed, and returns its file. */
static int write_run(struct delivery *d, const char *log_dir, char **path)
{
	struct diag diag = DIAG_INIT;
	struct run_dir run;

	ck_assert_msg(run_dir_open(&run, log_dir, "run", 0, &diag) == 0, "%s", diag.text);
	ck_assert_msg(delivery_write(d, &run, &diag) == 0, "%s", diag.text);
	ck_assert_msg(run_dir_publish(&run, "host", path, &diag) == 0, "%s", diag.text);
	run_dir_close(&run);
	delivery_free(d);
	return open(*path, O_RDONLY | O_CLOEXEC);
}

/* A web capture is spooled only once, and the bytes after the spool are appended to its file. */
START_TEST(a_linkable_file_becomes_the_file_of_the_run)
{
	char log_dir[] = "/tmp/proftap-test-XXXXXX";
	struct spool *spool = NULL;
	struct delivery *d = NULL, *tail = NULL;
	struct chunks c = CHUNKS_INIT;
	struct stat before, after;
	char *path = NULL;
	int fd;

	ck_assert_ptr_nonnull(mkdtemp(log_dir));
	if (spool_new_linkable(log_dir, UINT64_MAX, &spool))
		return; /* this file system cannot link such files */
	ck_assert_int_eq(spool_append_bytes(spool, expected, N_BYTES - 100), 0);
	ck_assert_int_eq(fstat(spool_get_fd(spool), &before), 0);
	ck_assert_int_eq(delivery_new_from_file(spool, &d), 0);
	spool_release(spool);
	chunks_append(&c, expected + N_BYTES - 100, 100);
	ck_assert_int_eq(delivery_new_from_chunks(&c, &tail), 0);
	delivery_append(d, tail);
	fd = write_run(d, log_dir, &path);
	ck_assert_int_eq(fstat(fd, &after), 0);
	ck_assert_uint_eq(after.st_ino, before.st_ino);
	ck_assert_uint_eq(after.st_nlink, 1);
	ck_assert_int_eq(after.st_size, N_BYTES);
	ck_assert_uint_eq(after.st_mode & 0600, 0600);
	ck_assert_int_eq(read(fd, got, N_BYTES), N_BYTES);
	ck_assert_mem_eq(got, expected, N_BYTES);
	close(fd);
	unlink(path);
	for (char *slash; (slash = strrchr(path, '/')) && slash > path + strlen("/tmp");) {
		*slash = '\0';
		rmdir(path);
	}
	free(path);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(reads_all_in_any_pieces, N_STEPS),
	UNIT_TEST(gives_all_or_an_error),
	UNIT_LOOP(gives_the_rest_as_chunks, 5),
	UNIT_TEST(is_freed_half_read),
	UNIT_TEST(keeps_an_error_of_the_chunks),
	UNIT_LOOP(reads_data_from_several_places, N_STEPS),
	UNIT_TEST(gives_data_from_several_places_without_a_copy),
	UNIT_TEST(a_linkable_file_becomes_the_file_of_the_run),
	{NULL},
};

UNIT_MAIN("delivery", .set_up = setup, .tear_down = teardown, .timeout_s = 30, .tests = tests)
