/* SPDX-License-Identifier: Apache-2.0 */
/* Tests tables of stacks, and their form as bytes. */
#include "trace/model/stacks.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "tests/unit/unit.h"
#include "trace/xspace/stack_profile.h"

static struct stacks table;

static void tear_down(void)
{
	stacks_deinit(&table);
}

/* Makes "main;decode;inflate" and "main;decode;copy", and returns the first one. */
static uint32_t make_two(uint32_t *second)
{
	static const char *const names[] = {"main", "decode", "inflate", "copy"};
	uint32_t mapping = stacks_add_mapping(&table, "/usr/bin/train", "0123abcd");
	uint32_t frames[4];
	uint32_t callers;

	for (uint32_t i = 0; i < 4; i++) {
		frames[i] = stacks_take_frame(&table, mapping, 0x1000 + i);
		ck_assert_int_eq(stacks_name(&table, frames[i], names[i], names[i]), 0);
	}
	callers = stacks_take(&table, stacks_take(&table, STACKS_NONE, frames[0]), frames[1]);
	*second = stacks_take(&table, callers, frames[3]);
	return stacks_take(&table, callers, frames[2]);
}

START_TEST(equal_frames_and_stacks_have_one_number)
{
	uint32_t second;
	uint32_t first = make_two(&second);
	uint32_t again = stacks_take(&table, table.v[first].callers, table.v[first].frame);

	ck_assert_uint_eq(table.n_frames, 4);
	ck_assert_uint_eq(table.n, 4);
	ck_assert_uint_eq(again, first);
	ck_assert_uint_eq(table.v[first].callers, table.v[second].callers);
	ck_assert_str_eq(stacks_get_function(&table, first), "inflate");
}
END_TEST

START_TEST(frames_of_two_files_differ)
{
	uint32_t a = stacks_add_mapping(&table, "a", "");
	uint32_t b = stacks_add_mapping(&table, "b", "");

	ck_assert_uint_ne(stacks_take_frame(&table, a, 7), stacks_take_frame(&table, b, 7));
	ck_assert_uint_ne(
		stacks_take_frame(&table, a, 7), stacks_take_frame(&table, STACKS_NONE, 7));
}
END_TEST

START_TEST(inlined_frames_come_behind_their_own)
{
	uint32_t second;
	uint32_t first = make_two(&second);
	uint32_t decode = table.v[table.v[first].callers].frame;
	uint32_t outer = stacks_add_inlined(&table, decode);
	uint32_t inner = stacks_add_inlined(&table, outer);
	uint32_t taken = stacks_take_with_inlined(&table, first);
	static const char *const expected[] = {"inflate", "get_bit", "get_byte", "decode", "main"};

	ck_assert_int_eq(stacks_name(&table, outer, "get_byte", "get_byte"), 0);
	ck_assert_int_eq(stacks_name(&table, inner, "get_bit", "get_bit"), 0);
	ck_assert_int_eq(stacks_set_place(&table, inner, "bits.h", 12), 0);
	for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
		ck_assert_str_eq(stacks_get_function(&table, taken), expected[i]);
		taken = table.v[taken].callers;
	}
	ck_assert_uint_eq(taken, STACKS_NONE);
	ck_assert_uint_eq(
		stacks_take_with_inlined(&table, second), stacks_take_with_inlined(&table, second));
	ck_assert_uint_eq(table.frames[inner].address, table.frames[decode].address);
}
END_TEST

/* A recursion is as deep as a stack may be; the innermost frames are kept. */
START_TEST(a_stack_with_inlined_frames_is_cut_at_its_outer_end)
{
	uint32_t frame = stacks_take_frame(&table, STACKS_NONE, 1);
	uint32_t inlined = stacks_add_inlined(&table, frame);
	uint32_t stack = STACKS_NONE;
	size_t n = 0;

	for (int i = 0; i < STACKS_MAX_DEPTH; i++)
		stack = stacks_take(&table, stack, frame);
	stack = stacks_take_with_inlined(&table, stack);
	ck_assert_uint_eq(table.v[stack].frame, inlined);
	for (; stack != STACKS_NONE; stack = table.v[stack].callers)
		n++;
	ck_assert_uint_eq(n, STACKS_MAX_DEPTH);
}
END_TEST

/* --- bytes -------------------------------------------------------------------------------- */

struct bytes {
	uint8_t *data;
	size_t n;
};

static struct bytes encode(const struct stack_use *uses, size_t n)
{
	struct chunks out = CHUNKS_INIT;
	struct chunk_reader reader = {.at = 0};
	struct bytes bytes;

	stack_profile_encode(&table, uses, n, &out);
	ck_assert_int_eq(out.error, 0);
	bytes.n = (size_t)out.total_bytes;
	bytes.data = malloc(bytes.n);
	chunk_reader_init(&reader, &out);
	ck_assert_uint_eq(chunk_reader_read(&reader, bytes.data, bytes.n), bytes.n);
	chunk_reader_deinit(&reader);
	return bytes;
}

static struct bytes encode_two(void)
{
	uint32_t second;
	uint32_t first = make_two(&second);
	const struct stack_use uses[] = {{second, 3}, {first, 1}};

	return encode(uses, 2);
}

/* Returns the functions of a stack, "main;decode;copy". */
static const char *join(const struct stacks *s, uint32_t stack)
{
	static char text[256];
	char rest[256];

	text[0] = '\0';
	for (; stack != STACKS_NONE; stack = s->v[stack].callers) {
		strcpy(rest, text);
		snprintf(text, sizeof text, "%.60s%s%.180s", stacks_get_function(s, stack),
			rest[0] ? ";" : "", rest);
	}
	return text;
}

START_TEST(decoding_gives_the_stacks_that_were_encoded)
{
	struct bytes bytes = encode_two();
	struct stacks read = {.n = 0};
	uint32_t *numbers = NULL;
	const char *why;
	size_t n;

	ck_assert_int_eq(stack_profile_decode(bytes.data, bytes.n, &read, &numbers, &n, &why), 0);
	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(join(&read, numbers[0]), "main;decode;copy");
	ck_assert_str_eq(join(&read, numbers[1]), "main;decode;inflate");
	ck_assert_uint_eq(read.n_mappings, 1);
	ck_assert_str_eq(names_get(&read.texts, read.mappings[0].path), "/usr/bin/train");
	ck_assert_str_eq(names_get(&read.texts, read.mappings[0].build_id), "0123abcd");
	ck_assert_uint_eq(read.frames[read.v[numbers[0]].frame].address, 0x1003);
	free(numbers);
	free(bytes.data);
	stacks_deinit(&read);
}
END_TEST

/* Every cut of the bytes is refused, or has only whole stacks. */
START_TEST(bytes_that_are_cut_are_refused)
{
	struct bytes bytes = encode_two();
	size_t n_refused = 0;

	for (size_t cut = 0; cut < bytes.n; cut++) {
		uint8_t *copy = malloc(cut + 1);
		struct stacks read = {.n = 0};
		uint32_t *numbers = NULL;
		const char *why = NULL;
		size_t n;
		int r;

		memcpy(copy, bytes.data, cut);
		r = stack_profile_decode(copy, cut, &read, &numbers, &n, &why);
		ck_assert(r == 0 || r == -EBADMSG);
		ck_assert(r == 0 || why);
		n_refused += r != 0;
		free(numbers);
		free(copy);
		stacks_deinit(&read);
	}
	ck_assert_uint_gt(n_refused, bytes.n * 9 / 10);
	free(bytes.data);
}
END_TEST

START_TEST(a_location_without_a_function_is_refused)
{
	/* Profile{location: {id: 1, line: {function_id: 9}}, string_table: ""} */
	static const uint8_t bytes[] = {0x22, 6, 0x08, 1, 0x22, 2, 0x08, 9, 0x32, 0};
	uint32_t *numbers = NULL;
	const char *why = NULL;
	size_t n;

	ck_assert_int_eq(
		stack_profile_decode(bytes, sizeof bytes, &table, &numbers, &n, &why), -EBADMSG);
	ck_assert_str_eq(why, "a location has no function");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(equal_frames_and_stacks_have_one_number),
	UNIT_TEST(frames_of_two_files_differ),
	UNIT_TEST(inlined_frames_come_behind_their_own),
	UNIT_TEST(a_stack_with_inlined_frames_is_cut_at_its_outer_end),
	UNIT_TEST(decoding_gives_the_stacks_that_were_encoded),
	UNIT_TEST(bytes_that_are_cut_are_refused),
	UNIT_TEST(a_location_without_a_function_is_refused),
	{NULL},
};

UNIT_MAIN("stacks", .tear_down = tear_down, .tests = tests)
