/* SPDX-License-Identifier: Apache-2.0 */
/* Tests clock stamps in files, wherever the plane is and however many bytes follow it. */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/file_io.h"
#include "client/answer/answer.h"
#include "client/answer/clock_offset.h"
#include "tests/unit/unit.h"
#include "trace/run_dir.h"
#include "trace/xspace/pbwire.h"

#define MANY_BYTES (UINT64_C(96) << 20)
#define SPARE_BYTES (UINT64_C(16) << 20)

static const char name[] = "Task Environment";
static const struct clock_offset offset = {.is_known = true, .offset_ns = -5, .uncertainty_ns = 7};

static FILE *file;
static struct run_dir run_dir;
static struct diag d = DIAG_INIT;
static struct answer answer;
static uint64_t file_bytes;

static void set_up(void)
{
	file = tmpfile();
	ck_assert_ptr_nonnull(file);
	run_dir = (struct run_dir)RUN_DIR_INIT;
	run_dir.fd = fileno(file);
	answer = (struct answer){.target = "t", .run_dir = &run_dir, .d = &d};
}

static void tear_down(void)
{
	answer_deinit(&answer);
	fclose(file);
}

static void put(const void *data, size_t n)
{
	ck_assert_int_eq(file_write_at(run_dir.fd, data, n, answer.xspace_bytes), 0);
	answer.xspace_bytes += n;
}

/*
 * Puts a LEN field's head; |is_padded|: in the form of a writer that does not know the length yet.
 */
static void put_head(uint32_t number, uint64_t n, bool is_padded)
{
	uint8_t head[16];
	uint8_t *p = pb_put_varint(head, PB_TAG(number, PB_LEN));

	if (is_padded)
		pb_put_padded(p, n);
	p = is_padded ? p + PB_PADDED_BYTES : pb_put_varint(p, n);
	put(head, (size_t)(p - head));
}

static void put_text(uint32_t number, const char *text)
{
	put_head(number, strlen(text), false);
	put(text, strlen(text));
}

/* Puts the plane, with |n_more| bytes beside its name. */
static void put_environment(size_t n_more, bool is_padded)
{
	char more[300];

	memset(more, 'x', sizeof more);
	put_head(1, 2 + strlen(name) + 2 + pb_varint_size(n_more) + n_more, is_padded);
	put_text(2, name);
	put_head(100, n_more, false);
	put(more, n_more);
}

static void stamp(void)
{
	answer.trace = mmap(NULL, answer.xspace_bytes, PROT_READ, MAP_PRIVATE, run_dir.fd, 0);
	ck_assert_ptr_ne(answer.trace, MAP_FAILED);
	file_bytes = answer.xspace_bytes;
	ck_assert_int_eq(clock_stamp_write(&answer, &offset, &file_bytes, &d), 0);
	ck_assert_uint_eq((uint64_t)lseek(run_dir.fd, 0, SEEK_END), file_bytes);
}

/* Reads the next field of the space, which must be this text. */
static void expect_text(struct pb_reader *r, uint32_t number, const char *text)
{
	struct pb_field f;

	ck_assert_int_eq(pb_next(r, &f), 1);
	ck_assert_uint_eq(f.tag, PB_TAG(number, PB_LEN));
	ck_assert_uint_eq(f.n_bytes, strlen(text));
	ck_assert_mem_eq(f.data, text, f.n_bytes);
}

/*
 * Reads the next field of the space, which must be the plane with two
 * names of stats and two values.
 */
static void expect_environment(struct pb_reader *r, size_t n_more)
{
	struct pb_field plane;
	struct pb_field f;
	struct pb_reader inner;
	unsigned n_names = 0;
	unsigned n_stats = 0;

	ck_assert_int_eq(pb_next(r, &plane), 1);
	ck_assert_uint_eq(plane.tag, PB_TAG(1, PB_LEN));
	inner = pb_enter(&plane);
	expect_text(&inner, 2, name);
	ck_assert_int_eq(pb_next(&inner, &f), 1);
	ck_assert_uint_eq(f.n_bytes, n_more);
	for (size_t i = 0; i < n_more; i++)
		ck_assert_int_eq(f.data[i], 'x');
	while (pb_next(&inner, &f) > 0) {
		n_names += f.tag == PB_TAG(5, PB_LEN);
		n_stats += f.tag == PB_TAG(6, PB_LEN);
	}
	ck_assert_ptr_eq(inner.p, inner.end);
	ck_assert_uint_eq(n_names, 2);
	ck_assert_uint_eq(n_stats, 2);
}

static struct pb_reader read_back(void)
{
	static uint8_t bytes[4096];

	ck_assert_uint_le(file_bytes, sizeof bytes);
	ck_assert_int_eq(file_read_at(run_dir.fd, bytes, file_bytes, 0), 0);
	return pb_reader(bytes, file_bytes);
}

/* If the plane has grown, some lengths need a longer varint, and padded ones do not. */
START_TEST(the_plane_grows_and_the_rest_moves)
{
	for (int i = 0; i < 2 * 300; i++) {
		struct pb_reader r;

		put_text(4, "before");
		put_environment((size_t)i / 2, i % 2 == 1);
		put_text(4, "behind");
		stamp();
		r = read_back();
		expect_text(&r, 4, "before");
		expect_environment(&r, (size_t)i / 2);
		expect_text(&r, 4, "behind");
		ck_assert_ptr_eq(r.p, r.end);
		tear_down();
		set_up();
	}
}
END_TEST

static uint64_t read_data_bytes(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	unsigned long kib = 0;

	while (status && fgets(line, sizeof line, status))
		if (sscanf(line, "VmData: %lu", &kib) == 1)
			break;
	if (status)
		fclose(status);
	return (uint64_t)kib << 10;
}

/* Traces of subprocesses lie after the plane, and may have many bytes. */
START_TEST(bytes_behind_the_plane_need_no_memory)
{
	uint64_t most = read_data_bytes() + SPARE_BYTES;
	const struct rlimit limit = {most, RLIM_INFINITY};
	char last[5] = "";

	put_environment(0, true);
	put_head(1, MANY_BYTES, true);
	ck_assert_int_eq(
		file_write_at(run_dir.fd, "end", 4, answer.xspace_bytes + MANY_BYTES - 4), 0);
	answer.xspace_bytes += MANY_BYTES;
	ck_assert_int_eq(setrlimit(RLIMIT_DATA, &limit), 0);
	stamp();
	ck_assert_int_eq(file_read_at(run_dir.fd, last, 4, file_bytes - 4), 0);
	ck_assert_str_eq(last, "end");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(the_plane_grows_and_the_rest_moves),
	UNIT_TEST(bytes_behind_the_plane_need_no_memory),
	{NULL},
};

UNIT_MAIN("clock_stamp", .set_up = set_up, .tear_down = tear_down, .tests = tests)
