/* SPDX-License-Identifier: Apache-2.0 */
/* Tests chunked bytes: order, growth, moves, and lack of memory. */
#include "base/chunks.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

/* Returns all bytes in one malloc'ed block. */
static uint8_t *flatten(const struct chunks *c)
{
	uint8_t *all = malloc(c->total_bytes + 1);
	size_t at = 0;

	ck_assert_ptr_nonnull(all);
	for (size_t i = 0; i < c->n_chunks; i++) {
		memcpy(all + at, c->chunks[i].data, c->chunks[i].used_bytes);
		at += c->chunks[i].used_bytes;
	}
	ck_assert_uint_eq(at, c->total_bytes);
	return all;
}

static void fill(uint8_t *p, size_t n, unsigned int seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 7 + i / 251 + seed);
}

START_TEST(empty_state_holds_nothing)
{
	struct chunks c = CHUNKS_INIT;

	chunks_append(&c, "", 0);
	ck_assert_uint_eq(c.n_chunks, 0);
	ck_assert_uint_eq(c.total_bytes, 0);
	ck_assert_int_eq(c.error, 0);
	chunks_deinit(&c);
	chunks_deinit(&c);
}
END_TEST

START_TEST(keeps_order_across_chunks)
{
	const size_t n = 3 * CHUNK_BYTES + 12345, step = 65521;
	struct chunks c = CHUNKS_INIT;
	uint8_t *in = malloc(n), *out;

	ck_assert_ptr_nonnull(in);
	fill(in, n, 1);
	for (size_t at = 0; at < n; at += step)
		chunks_append(&c, in + at, n - at < step ? n - at : step);
	ck_assert_int_eq(c.error, 0);
	ck_assert_uint_eq(c.total_bytes, n);
	ck_assert_uint_gt(c.n_chunks, 3);
	out = flatten(&c);
	ck_assert_mem_eq(in, out, n);
	free(out);
	free(in);
	chunks_deinit(&c);
}
END_TEST

START_TEST(piece_larger_than_a_chunk_is_contiguous)
{
	struct chunks c = CHUNKS_INIT;
	const size_t n = 2 * CHUNK_BYTES + 1;
	uint8_t *p;

	chunks_append(&c, "ab", 2);
	p = chunks_reserve(&c, n);
	ck_assert_ptr_nonnull(p);
	fill(p, n, 2);
	chunks_commit(&c, n);
	ck_assert_uint_eq(c.n_chunks, 2);
	ck_assert_ptr_eq(c.chunks[1].data, p);
	ck_assert_uint_eq(c.total_bytes, n + 2);
	chunks_deinit(&c);
}
END_TEST

START_TEST(bytes_never_move)
{
	struct chunks c = CHUNKS_INIT;
	uint8_t *first = chunks_reserve(&c, 1);

	*first = 'x';
	chunks_commit(&c, 1);
	for (int i = 0; i < 40; i++) {
		ck_assert_ptr_nonnull(chunks_reserve(&c, CHUNK_BYTES));
		chunks_commit(&c, CHUNK_BYTES);
	}
	ck_assert_ptr_eq(c.chunks[0].data, first);
	*first = 'y';
	ck_assert_int_eq(c.chunks[0].data[0], 'y');
	chunks_deinit(&c);
}
END_TEST

START_TEST(commit_of_less_keeps_the_rest_free)
{
	struct chunks c = CHUNKS_INIT;
	uint8_t *p = chunks_reserve(&c, 10);

	memcpy(p, "abc", 3);
	chunks_commit(&c, 3);
	ck_assert_ptr_eq(chunks_reserve(&c, 1), p + 3);
	chunks_append(&c, "def", 3);
	ck_assert_mem_eq(c.chunks[0].data, "abcdef", 6);
	ck_assert_uint_eq(c.total_bytes, 6);
	chunks_deinit(&c);
}
END_TEST

START_TEST(take_moves_all_and_empties_the_giver)
{
	struct chunks a = CHUNKS_INIT, b = CHUNKS_INIT;
	uint8_t *out;

	chunks_append(&a, "head ", 5);
	for (int i = 0; i < 20; i++) {
		ck_assert_ptr_nonnull(chunks_reserve(&b, CHUNK_BYTES));
		memset(b.chunks[b.n_chunks - 1].data, 'a' + i, CHUNK_BYTES);
		chunks_commit(&b, CHUNK_BYTES);
	}
	chunks_take(&a, &b);
	ck_assert_uint_eq(b.n_chunks, 0);
	ck_assert_uint_eq(b.total_bytes, 0);
	ck_assert_ptr_null(b.chunks);
	ck_assert_uint_eq(a.total_bytes, 5 + 20ull * CHUNK_BYTES);
	out = flatten(&a);
	ck_assert_mem_eq(out, "head aaaa", 9);
	ck_assert_int_eq(out[5 + 20ull * CHUNK_BYTES - 1], 'a' + 19);
	free(out);
	chunks_deinit(&a);
}
END_TEST

START_TEST(take_of_nothing_changes_nothing)
{
	struct chunks a = CHUNKS_INIT, b = CHUNKS_INIT;

	chunks_append(&a, "x", 1);
	chunks_take(&a, &b);
	ck_assert_uint_eq(a.total_bytes, 1);
	ck_assert_int_eq(a.error, 0);
	chunks_deinit(&a);
}
END_TEST

START_TEST(error_sticks_and_travels)
{
	struct chunks a = CHUNKS_INIT, b = CHUNKS_INIT;

	/* No machine has so much memory. */
	ck_assert_ptr_null(chunks_reserve(&b, SIZE_MAX / 4));
	ck_assert_int_eq(b.error, -ENOMEM);
	ck_assert_ptr_null(chunks_reserve(&b, 1));
	chunks_append(&b, "x", 1);
	ck_assert_uint_eq(b.total_bytes, 0);
	chunks_take(&a, &b);
	ck_assert_int_eq(a.error, -ENOMEM);
	ck_assert_int_eq(b.error, 0);
	chunks_deinit(&a);
}
END_TEST

static int n_given_back;

static void give_back(void *lender)
{
	n_given_back += lender == &n_given_back;
}

START_TEST(lent_chunk_is_returned_once)
{
	static const uint8_t bytes[] = "lent";
	struct chunks from = CHUNKS_INIT;
	struct chunks c = CHUNKS_INIT;
	uint8_t *all;

	n_given_back = 0;
	chunks_append(&from, "<", 1);
	chunks_lend(&from, bytes, 4, give_back, &n_given_back);
	/* Appending goes neither into the lent bytes nor right after them in their chunk. */
	chunks_append(&from, ">", 1);
	chunks_take(&c, &from);
	ck_assert_int_eq(n_given_back, 0);
	ck_assert_uint_eq(c.total_bytes, 6);
	ck_assert_ptr_eq(c.chunks[1].data, bytes);
	all = flatten(&c);
	ck_assert_mem_eq(all, "<lent>", 6);
	ck_assert_mem_eq(bytes, "lent", 5);
	free(all);
	chunks_deinit(&c);
	ck_assert_int_eq(n_given_back, 1);
	from.error = -ENOMEM;
	chunks_lend(&from, bytes, 4, give_back, &n_given_back);
	ck_assert_int_eq(n_given_back, 2);
	ck_assert_uint_eq(from.total_bytes, 0);
	chunks_deinit(&from);
}
END_TEST

START_TEST(rewinding_keeps_room_of_its_own)
{
	static const uint8_t lent[] = "lent";
	struct chunks c = CHUNKS_INIT;
	const uint8_t *room;

	n_given_back = 0;
	chunks_append(&c, "first", 5);
	room = c.chunks[0].data;
	chunks_lend(&c, lent, 4, give_back, &n_given_back);
	c.error = -ENOMEM;
	chunks_rewind(&c);
	ck_assert_int_eq(n_given_back, 1);
	ck_assert_uint_eq(c.total_bytes, 0);
	ck_assert_int_eq(c.error, 0);
	ck_assert_ptr_eq(chunks_reserve(&c, CHUNK_BYTES), room);
	ck_assert_uint_eq(c.n_chunks, 1);
	chunks_deinit(&c);
	/* Lent bytes are not kept. */
	chunks_lend(&c, lent, 4, give_back, &n_given_back);
	chunks_rewind(&c);
	ck_assert_int_eq(n_given_back, 2);
	ck_assert_uint_eq(c.n_chunks, 0);
	chunks_deinit(&c);
}
END_TEST

START_TEST(room_that_is_lent_is_written_to_first)
{
	struct chunks c = CHUNKS_INIT;
	uint8_t room[8] = "";

	chunks_lend_room(&c, room, sizeof room, give_back, &n_given_back);
	ck_assert_uint_eq(c.total_bytes, 0);
	chunks_append(&c, "abcde", 5);
	ck_assert_int_eq(memcmp(room, "abcde", 5), 0);
	/* This exceeds the memory that is left. */
	chunks_append(&c, "fghi", 4);
	ck_assert_uint_eq(c.n_chunks, 2);
	ck_assert_uint_eq(c.total_bytes, 9);
	ck_assert_int_eq(room[5], 0);
	chunks_rewind(&c);
	ck_assert_int_eq(n_given_back, 1);
	ck_assert_uint_eq(c.n_chunks, 0);
	chunks_deinit(&c);
	ck_assert_int_eq(n_given_back, 1);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(empty_state_holds_nothing),
	UNIT_TEST(keeps_order_across_chunks),
	UNIT_TEST(piece_larger_than_a_chunk_is_contiguous),
	UNIT_TEST(bytes_never_move),
	UNIT_TEST(commit_of_less_keeps_the_rest_free),
	UNIT_TEST(take_moves_all_and_empties_the_giver),
	UNIT_TEST(take_of_nothing_changes_nothing),
	UNIT_TEST(error_sticks_and_travels),
	UNIT_TEST(lent_chunk_is_returned_once),
	UNIT_TEST(rewinding_keeps_room_of_its_own),
	UNIT_TEST(room_that_is_lent_is_written_to_first),
	{NULL},
};

UNIT_MAIN("chunks", .timeout_s = 30, .tests = tests)
