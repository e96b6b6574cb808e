/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests NVTX's extended payloads: the program's description of a layout, and the
 * arguments that its bytes become.
 */
#define PTAP_IMPL_BUILDING
#include <check.h>
#include <string.h>

#include "lib/inject/nvtx/event.h"
#include "lib/inject/nvtx/payload_abi.h"
#include "lib/inject/nvtx/schema.h"
#include "lib/inject/nvtx/vocabulary.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

#define ENTRY(a_type, a_name)                      \
	{                                          \
		.type = (a_type), .name = (a_name) \
	}

static uint32_t word;
static const struct nvtx_domain *domain;

static void setup(void)
{
	fixture_open();
	word = fixture_start(1);
	domain = nvtx_domain_of(NULL);
}

/* Adds a struct with the layout of C, unless |more| has other values. */
static uint64_t add_schema(
	const struct nvtx_entry *entries, size_t n, struct nvtx_schema_attributes more)
{
	more.has |= NVTX_SCHEMA_HAS_TYPE | NVTX_SCHEMA_HAS_ENTRIES | NVTX_SCHEMA_HAS_N_ENTRIES;
	if (!more.type)
		more.type = NVTX_SCHEMA_STATIC;
	more.entries = entries;
	more.n_entries = n;
	return nvtx_schema_register(domain, &more);
}

#define SCHEMA(entries)                                               \
	add_schema((entries), sizeof(entries) / sizeof((entries)[0]), \
		(struct nvtx_schema_attributes){0})

/* Records an instant with |bytes|. Its extra slots begin at slot 1 of ring 0. */
static void mark(uint64_t schema, const void *bytes, size_t n)
{
	struct nvtx_payload payload = {schema, n, bytes};
	struct nvtx_event e;
	struct range_what what;

	nvtx_event_from_payloads(&e, domain, &payload, 1);
	what = nvtx_event_describe(&e);
	range_point(word, RECORD_INSTANT, &what);
}

/* Returns slot |i| of those after the name. */
static const struct slot *get_slot(unsigned i)
{
	return fixture_slot(0, 2 + i);
}

static unsigned count_slots(void)
{
	return record_n_extra(fixture_slot(0, 0)->word[0]) - 1;
}

static void expect_key(unsigned i, const char *name, enum slot_type type)
{
	ck_assert_uint_lt(i, count_slots());
	ck_assert_str_eq(fixture_string((uint32_t)get_slot(i)->word[0] & STRING_ID_MASK), name);
	ck_assert_uint_eq(slot_type(get_slot(i)->word[0]), type);
}

static void expect_bits(unsigned i, const char *name, enum slot_type type, uint64_t bits)
{
	expect_key(i, name, type);
	ck_assert_uint_eq(get_slot(i)->word[1], bits);
}

static void expect_f64(unsigned i, const char *name, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	expect_bits(i, name, SLOT_F64, bits);
}

static void expect_text(unsigned i, const char *name, const char *text)
{
	expect_key(i, name, SLOT_TEXT);
	ck_assert_uint_eq(get_slot(i)->word[0] >> 32, strlen(text));
	ck_assert_mem_eq(&get_slot(i)->word[1], text, strlen(text));
}

START_TEST(fields_lie_where_c_puts_them)
{
	static const struct nvtx_entry entries[] = {ENTRY(NVTX_TYPE_INT8, "a"),
		ENTRY(NVTX_TYPE_DOUBLE, "b"), ENTRY(NVTX_TYPE_UINT16, "c"),
		ENTRY(NVTX_TYPE_LONGDOUBLE, "d")};
	struct {
		int8_t a;
		double b;
		uint16_t c;
		long double d;
	} bytes = {-3, 0.25, 7, -1.5L};

	mark(SCHEMA(entries), &bytes, sizeof bytes);
	ck_assert_uint_eq(count_slots(), 4);
	expect_bits(0, "a", SLOT_I64, (uint64_t)-3);
	expect_f64(1, "b", 0.25);
	expect_bits(2, "c", SLOT_U64, 7);
	expect_f64(3, "d", -1.5);
}
END_TEST

START_TEST(no_field_is_aligned_to_more_than_the_program_says)
{
	static const struct nvtx_entry entries[] = {ENTRY(NVTX_TYPE_INT8, "a"),
		ENTRY(NVTX_TYPE_INT32, "b"), ENTRY(NVTX_TYPE_INT64, "c")};
	struct __attribute__((packed)) {
		int8_t a;
		int32_t b;
		int64_t c;
	} bytes = {1, 2, 3};

	mark(add_schema(entries, 3,
		     (struct nvtx_schema_attributes){
			     .has = NVTX_SCHEMA_HAS_ALIGNMENT, .alignment = 1}),
		&bytes, sizeof bytes);
	expect_bits(0, "a", SLOT_I64, 1);
	expect_bits(1, "b", SLOT_I64, 2);
	expect_bits(2, "c", SLOT_I64, 3);
}
END_TEST

START_TEST(explicit_offsets_are_obeyed)
{
	static const struct nvtx_entry entries[] = {
		{.type = NVTX_TYPE_INT32, .name = "a", .offset = 8},
		{.type = NVTX_TYPE_INT32, .name = "b", .offset = 4}, ENTRY(NVTX_TYPE_INT32, "c")};
	static const int32_t bytes[] = {0, 11, 22, 33};

	mark(SCHEMA(entries), bytes, sizeof bytes);
	expect_bits(0, "a", SLOT_I64, 22);
	expect_bits(1, "b", SLOT_I64, 11);
	expect_bits(2, "c", SLOT_I64, 22);
}
END_TEST

START_TEST(small_floats_are_read)
{
	static const struct nvtx_entry entries[] = {ENTRY(NVTX_TYPE_FLOAT16, "one and a half"),
		ENTRY(NVTX_TYPE_FLOAT16, "least"), ENTRY(NVTX_TYPE_FLOAT16, "infinite"),
		ENTRY(NVTX_TYPE_FLOAT16, "most"), ENTRY(NVTX_TYPE_BF16, "brain")};
	static const uint16_t bytes[] = {0x3e00, 0x8001, 0xfc00, 0x7bff, 0xc040};

	mark(SCHEMA(entries), bytes, sizeof bytes);
	expect_f64(0, "one and a half", 1.5);
	expect_f64(1, "least", -1.0 / (1 << 24));
	expect_f64(2, "infinite", -__builtin_inf());
	expect_f64(3, "most", 65504);
	expect_f64(4, "brain", -3);
}
END_TEST

START_TEST(a_nested_struct_becomes_its_fields)
{
	static const struct nvtx_entry two[] = {
		ENTRY(NVTX_TYPE_INT8, "x"), ENTRY(NVTX_TYPE_INT32, "y")};
	static const struct nvtx_entry one[] = {ENTRY(NVTX_TYPE_UINT16, "int16")};
	struct nvtx_entry entries[] = {
		ENTRY(NVTX_TYPE_INT8, "before"), {.name = "two"}, {.name = "one"}};
	struct {
		int8_t before;
		struct {
			int8_t x;
			int32_t y;
		} two;
		uint16_t one;
	} bytes = {1, {2, 3}, 4};

	entries[1].type = SCHEMA(two);
	entries[2].type = SCHEMA(one);
	mark(SCHEMA(entries), &bytes, sizeof bytes);
	expect_bits(1, "two.x", SLOT_I64, 2);
	expect_bits(2, "two.y", SLOT_I64, 3);
	expect_bits(3, "one", SLOT_U64, 4);
}
END_TEST

START_TEST(lists_are_texts)
{
	static const struct nvtx_entry entries[] = {ENTRY(NVTX_TYPE_INT16, "n"),
		{.flags = NVTX_ENTRY_ARRAY_FIXED,
			.type = NVTX_TYPE_INT8,
			.name = "fixed",
			.detail = 2},
		{.flags = NVTX_ENTRY_ARRAY_COUNTED, .type = NVTX_TYPE_FLOAT, .name = "counted"}};
	struct {
		int16_t n;
		int8_t fixed[2];
		float counted[2];
	} bytes = {2, {-1, 1}, {0.5f, 2}};

	mark(SCHEMA(entries), &bytes, sizeof bytes);
	expect_text(1, "fixed", "[-1, 1]");
	expect_text(2, "counted", "[0.5, 2]");
}
END_TEST

static void mark_list(int64_t n, size_t n_bytes)
{
	static const struct nvtx_entry entries[] = {ENTRY(NVTX_TYPE_INT64, "n"),
		{.flags = NVTX_ENTRY_ARRAY_COUNTED, .type = NVTX_TYPE_INT64, .name = "list"}};
	static int64_t bytes[100];

	bytes[0] = n;
	mark(SCHEMA(entries), bytes, n_bytes);
}

START_TEST(a_negative_count_is_an_empty_list)
{
	mark_list(-1, 16);
	expect_text(1, "list", "[]");
}
END_TEST

START_TEST(entries_beyond_the_payload_are_not_read)
{
	mark_list(3, 24);
	ck_assert_uint_eq(count_slots(), 1);
	ck_assert_uint_eq(fixture_lost(0, LOSS_CUT), 1);
}
END_TEST

START_TEST(a_long_list_is_cut)
{
	char text[128];

	mark_list(99, 800);
	expect_key(1, "list", SLOT_TEXT);
	memcpy(text, &get_slot(1)->word[1], sizeof text);
	text[get_slot(1)->word[0] >> 32] = '\0';
	ck_assert_uint_lt(strlen(text), 128);
	ck_assert_uint_gt(strlen(text), 100);
	ck_assert_str_eq(text + strlen(text) - 6, ", ...]");
}
END_TEST

START_TEST(hidden_entries_are_left_out)
{
	static const struct nvtx_entry entries[] = {
		{.flags = NVTX_ENTRY_HIDDEN, .type = NVTX_TYPE_INT32, .name = "n"},
		{.flags = NVTX_ENTRY_ARRAY_COUNTED, .type = NVTX_TYPE_INT32, .name = "list"}};
	static const int32_t bytes[] = {1, 5};

	mark(SCHEMA(entries), bytes, sizeof bytes);
	ck_assert_uint_eq(count_slots(), 1);
	expect_text(0, "list", "[5]");
}
END_TEST

static void expect_bytes(uint64_t schema, const void *bytes, size_t n)
{
	ck_assert_uint_ne(schema, 0);
	mark(schema, bytes, n);
	ck_assert_uint_eq(count_slots(), 1);
	expect_bits(0, "payload_bytes", SLOT_U64, n);
}

START_TEST(entries_after_an_open_end_cannot_be_read)
{
	static const struct nvtx_entry entries[] = {ENTRY(NVTX_TYPE_INT32, "n"),
		{.flags = NVTX_ENTRY_ARRAY_COUNTED, .type = NVTX_TYPE_INT32, .name = "list"},
		ENTRY(NVTX_TYPE_INT32, "behind")};
	static const int32_t bytes[] = {1, 5, 6};

	expect_bytes(SCHEMA(entries), bytes, sizeof bytes);
}
END_TEST

START_TEST(a_type_that_nobody_knows_cannot_be_read)
{
	static const struct nvtx_entry entries[] = {ENTRY(NVTX_TYPE_INT32, "a"), ENTRY(79, "b")};
	static const int32_t bytes[] = {1, 5};

	expect_bytes(SCHEMA(entries), bytes, sizeof bytes);
}
END_TEST

START_TEST(a_list_is_counted_by_a_number)
{
	static const struct nvtx_entry entries[] = {ENTRY(NVTX_TYPE_DOUBLE, "a"),
		{.flags = NVTX_ENTRY_ARRAY_COUNTED, .type = NVTX_TYPE_INT32, .name = "list"}};
	static const double bytes[] = {1, 2};

	expect_bytes(SCHEMA(entries), bytes, sizeof bytes);
}
END_TEST

START_TEST(a_list_is_not_counted_by_itself)
{
	static const struct nvtx_entry entries[] = {
		{.flags = NVTX_ENTRY_ARRAY_COUNTED, .type = NVTX_TYPE_INT32, .name = "list"}};
	static const int32_t bytes[] = {1, 2};

	expect_bytes(SCHEMA(entries), bytes, sizeof bytes);
}
END_TEST

START_TEST(entries_beyond_the_slots_are_counted)
{
	static const uint8_t bytes[70];
	struct nvtx_entry entries[70];

	for (int i = 0; i < 70; i++)
		entries[i] = (struct nvtx_entry){.type = NVTX_TYPE_UINT8, .name = "same"};
	mark(SCHEMA(entries), bytes, sizeof bytes);
	ck_assert_uint_eq(count_slots(), RECORD_MAX_EXTRA - 1);
	ck_assert_uint_eq(fixture_lost(0, LOSS_CUT), SCHEMA_MAX_FIELDS - (RECORD_MAX_EXTRA - 1));
}
END_TEST

START_TEST(a_schema_has_the_id_that_the_program_gives_it)
{
	static const struct nvtx_entry entries[] = {ENTRY(NVTX_TYPE_INT32, "a")};
	struct nvtx_schema_attributes own = {
		.has = NVTX_SCHEMA_HAS_ID, .id = NVTX_SCHEMA_FIRST + 5};
	const struct nvtx_domain *other = nvtx_domain_get("other");
	static const int32_t bytes[] = {9};

	ck_assert_uint_eq(add_schema(entries, 1, own), NVTX_SCHEMA_FIRST + 5);
	/* This domain already uses that number. */
	ck_assert_uint_eq(add_schema(entries, 1, own), 0);
	ck_assert_ptr_null(nvtx_schema_find(other, NVTX_SCHEMA_FIRST + 5));
	own.id = 5;
	ck_assert_uint_eq(add_schema(entries, 1, own), 0);
	mark(NVTX_SCHEMA_FIRST + 5, bytes, sizeof bytes);
	expect_bits(0, "a", SLOT_I64, 9);
}
END_TEST

START_TEST(a_schema_that_lacks_something_is_refused)
{
	static const struct nvtx_entry entries[] = {ENTRY(NVTX_TYPE_INT32, "a")};
	struct nvtx_schema_attributes a = {.has = NVTX_SCHEMA_HAS_TYPE | NVTX_SCHEMA_HAS_ENTRIES,
		.type = NVTX_SCHEMA_STATIC,
		.entries = entries,
		.n_entries = 1};

	ck_assert_uint_eq(nvtx_schema_register(domain, &a), 0);
	ck_assert_uint_eq(nvtx_schema_register(domain, NULL), 0);
	ck_assert_uint_eq(add_schema(NULL, 1, (struct nvtx_schema_attributes){0}), 0);
	ck_assert_uint_eq(add_schema(entries, 0, (struct nvtx_schema_attributes){0}), 0);
}
END_TEST

START_TEST(texts_of_types_without_a_schema_are_read)
{
	static const uint16_t bytes[] = {'a', 0x20ac, 0xd83d, 0xde00};

	mark(NVTX_TYPE_CSTRING_UTF16, bytes, sizeof bytes);
	expect_text(0, "payload", "a\u20ac\U0001f600");
}
END_TEST

START_TEST(numbers_of_types_without_a_schema_are_as_many_as_fit)
{
	static const int16_t bytes[] = {1, -2, 3};

	mark(NVTX_TYPE_INT16, bytes, 5);
	expect_text(0, "payload", "[1, -2]");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(fields_lie_where_c_puts_them),
	UNIT_TEST(no_field_is_aligned_to_more_than_the_program_says),
	UNIT_TEST(explicit_offsets_are_obeyed),
	UNIT_TEST(small_floats_are_read),
	UNIT_TEST(a_nested_struct_becomes_its_fields),
	UNIT_TEST(lists_are_texts),
	UNIT_TEST(a_negative_count_is_an_empty_list),
	UNIT_TEST(entries_beyond_the_payload_are_not_read),
	UNIT_TEST(a_long_list_is_cut),
	UNIT_TEST(hidden_entries_are_left_out),
	UNIT_TEST(entries_after_an_open_end_cannot_be_read),
	UNIT_TEST(a_type_that_nobody_knows_cannot_be_read),
	UNIT_TEST(a_list_is_counted_by_a_number),
	UNIT_TEST(a_list_is_not_counted_by_itself),
	UNIT_TEST(entries_beyond_the_slots_are_counted),
	UNIT_TEST(a_schema_has_the_id_that_the_program_gives_it),
	UNIT_TEST(a_schema_that_lacks_something_is_refused),
	UNIT_TEST(texts_of_types_without_a_schema_are_read),
	UNIT_TEST(numbers_of_types_without_a_schema_are_as_many_as_fit),
	{NULL},
};

UNIT_MAIN("nvtx_payload", .set_up = setup, .tear_down = fixture_close, .tests = tests)
