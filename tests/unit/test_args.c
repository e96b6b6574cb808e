/* SPDX-License-Identifier: Apache-2.0 */
/* Tests arguments and run-time names in a record's extra slots. */
#include "lib/record/args.h"

#include <check.h>
#include <math.h>
#include <proftap/proftap.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

static void setup(void)
{
	fixture_open();
	fixture_start(1);
}

static uint64_t cuts(void)
{
	return fixture_lost(0, LOSS_CUT);
}

/* The entry's extra slot |i|. */
static const struct slot *extra(unsigned i)
{
	return fixture_slot(0, 1 + (uint64_t)i);
}

static void expect(unsigned i, const char *key, enum slot_type type, uint64_t bits)
{
	ck_assert_str_eq(fixture_string((uint32_t)extra(i)->word[0] & STRING_ID_MASK), key);
	ck_assert_uint_eq(slot_type(extra(i)->word[0]), type);
	ck_assert_uint_eq(extra(i)->word[1], bits);
}

/* Returns the text that begins in extra slot |i|; |n| gets the number of its slots. */
static const char *text_at(unsigned i, unsigned *n)
{
	static char text[RECORD_MAX_EXTRA * SLOT_BYTES];
	uint32_t n_bytes = (uint32_t)(extra(i)->word[0] >> 32);

	ck_assert_uint_lt(n_bytes, sizeof text);
	memcpy(text, &extra(i)->word[1], n_bytes);
	text[n_bytes] = '\0';
	*n = slot_count_for_text(n_bytes);
	return text;
}

START_TEST(keeps_every_type)
{
	double third = 1.0 / 3;
	uint64_t bits;
	unsigned n;

	memcpy(&bits, &third, sizeof bits);
	{
		PTAP_SPAN_ARGS("typed", PTAP_I("i", -5), PTAP_U("u", UINT64_MAX),
			PTAP_F("f", third), PTAP_P("p", (void *)0x1234),
			PTAP_S("s", "a text of more than eight bytes"), PTAP_I("last", INT64_MIN));
	}
	ck_assert_uint_eq(record_n_extra(fixture_slot(0, 0)->word[0]), 8);
	expect(0, "i", SLOT_I64, (uint64_t)-5);
	expect(1, "u", SLOT_U64, UINT64_MAX);
	expect(2, "f", SLOT_F64, bits);
	expect(3, "p", SLOT_POINTER, 0x1234);
	ck_assert_uint_eq(slot_type(extra(4)->word[0]), SLOT_TEXT);
	ck_assert_str_eq(text_at(4, &n), "a text of more than eight bytes");
	ck_assert_uint_eq(n, 3);
	expect(7, "last", SLOT_I64, (uint64_t)INT64_MIN);
	ck_assert_uint_eq(cuts(), 0);
}
END_TEST

START_TEST(writes_a_null_text_as_words)
{
	const char *none = NULL;
	unsigned n;

	{
		PTAP_SPAN_ARGS("null", PTAP_S("s", none), PTAP_S("empty", ""));
	}
	ck_assert_str_eq(text_at(0, &n), "(null)");
	ck_assert_str_eq(text_at(1, &n), "");
	ck_assert_uint_eq(n, 1);
}
END_TEST

/* Returns a text that is one byte too long for |n| slots. */
static const char *text_over(unsigned n)
{
	static char text[RECORD_MAX_EXTRA * SLOT_BYTES];

	memset(text, 'z', sizeof text);
	text[8 + (n - 1) * SLOT_BYTES + 1] = '\0';
	return text;
}

START_TEST(cuts_a_text_that_is_too_long)
{
	unsigned n;
	const char *text = text_over(RECORD_MAX_EXTRA);

	{
		PTAP_SPAN_ARGS("long", PTAP_S("s", text));
	}
	ck_assert_uint_eq(cuts(), 1);
	ck_assert_uint_eq(record_n_extra(fixture_slot(0, 0)->word[0]), RECORD_MAX_EXTRA);
	ck_assert_uint_eq(strlen(text_at(0, &n)), strlen(text) - 1);
	ck_assert_str_eq(text_at(0, &n) + strlen(text) - 4, "…");
	{
		/* A text that fits exactly is not cut. */
		PTAP_SPAN_ARGS("fits", PTAP_S("s", text + 1));
	}
	ck_assert_uint_eq(cuts(), 1);
}
END_TEST

START_TEST(keeps_a_slot_for_each_of_eight_texts)
{
	const char *t = text_over(RECORD_MAX_EXTRA - 7);
	unsigned at = 0;

	{
		PTAP_SPAN_ARGS("eight", PTAP_S("0", t), PTAP_S("1", t), PTAP_S("2", t),
			PTAP_S("3", "abcd"), PTAP_S("4", t), PTAP_S("5", t), PTAP_S("6", t),
			PTAP_S("7", t));
	}
	ck_assert_uint_eq(record_n_extra(fixture_slot(0, 0)->word[0]), RECORD_MAX_EXTRA);
	for (unsigned i = 0; i < 8; i++) {
		char key[2] = {(char)('0' + i), '\0'};
		unsigned n;
		const char *text;

		ck_assert_uint_lt(at, RECORD_MAX_EXTRA);
		ck_assert_str_eq(
			fixture_string((uint32_t)extra(at)->word[0] & STRING_ID_MASK), key);
		text = text_at(at, &n);
		if (i == 3)
			ck_assert_str_eq(text, "abcd");
		else
			ck_assert_uint_eq(strlen(text), i ? 8u : strlen(t) - 1);
		at += n;
	}
	ck_assert_uint_eq(at, RECORD_MAX_EXTRA);
	ck_assert_uint_eq(cuts(), 7);
}
END_TEST

START_TEST(cuts_the_ninth_argument)
{
	struct ptap_impl_site site = {0, {0}, "nine"};
	struct ptap_impl_arg args[9];

	for (int i = 0; i < 9; i++)
		args[i] = PTAP_I("k", i);
	ptap_impl_end(ptap_impl_begin_args(&site, ptap_impl_word(), args, 9));
	ck_assert_uint_eq(record_n_extra(fixture_slot(0, 0)->word[0]), 8);
	ck_assert_uint_eq(extra(7)->word[1], 7);
	ck_assert_uint_eq(cuts(), 1);
}
END_TEST

START_TEST(gives_each_open_span_its_own_arguments)
{
	{
		PTAP_SPAN_ARGS("outer", PTAP_I("k", 1));
		{
			PTAP_SPAN_ARGS("inner", PTAP_I("k", 2));
		}
	}
	ck_assert_uint_eq(extra(0)->word[1], 2);
	ck_assert_uint_eq(fixture_slot(0, 3)->word[1], 1);
}
END_TEST

START_TEST(cuts_run_time_names_after_255_bytes)
{
	char name[400];
	unsigned at;
	unsigned n;

	memset(name, 'n', sizeof name);
	name[255] = '\0';
	{
		PTAP_SPAN_DYN(name);
	}
	ck_assert_uint_eq(cuts(), 0);
	ck_assert_uint_eq(fixture_slot(0, 0)->word[1] >> RECORD_DURATION_BITS, STRING_ID_DYNAMIC);
	ck_assert_uint_eq(slot_type(extra(0)->word[0]), SLOT_NAME);
	ck_assert_str_eq(text_at(0, &n), name);
	ck_assert_uint_eq(record_n_extra(fixture_slot(0, 0)->word[0]), n);
	name[255] = 'n';
	name[399] = '\0';
	PTAP_INSTANT_DYN(name);
	ck_assert_uint_eq(cuts(), 1);
	ck_assert_str_eq(text_at(n + 1, &n) + 251, "n…");
	at = 2 * (n + 1);
	PTAP_INSTANT_DYN(NULL);
	ck_assert_str_eq(text_at(at, &n), "");
	/* A text is never cut in the middle of a character. */
	strcpy(name + 249, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9");
	PTAP_INSTANT_DYN(name);
	ck_assert_str_eq(text_at(at + 2, &n) + 248, "n\xc3\xa9…");
}
END_TEST

START_TEST(copies_a_run_time_name_when_the_span_begins)
{
	char name[] = "before";
	unsigned n;

	{
		PTAP_SPAN_DYN(name);
		strcpy(name, "after");
	}
	ck_assert_str_eq(text_at(0, &n), "before");
}
END_TEST

START_TEST(keeps_steps_and_samples)
{
	float half = 0.5f;
	double value;

	{
		PTAP_STEP("train", INT64_C(-7000000000));
	}
	PTAP_COUNTER("int", (short)-3);
	PTAP_COUNTER("float", half);
	ck_assert_uint_eq(record_kind(fixture_slot(0, 0)->word[0]), RECORD_STEP);
	ck_assert_int_eq((int64_t)extra(0)->word[1], INT64_C(-7000000000));
	ck_assert_uint_eq(record_kind(fixture_slot(0, 2)->word[0]), RECORD_COUNTER);
	ck_assert_uint_eq(slot_type(fixture_slot(0, 3)->word[0]), SLOT_I64);
	ck_assert_int_eq((int64_t)fixture_slot(0, 3)->word[1], -3);
	ck_assert_uint_eq(slot_type(fixture_slot(0, 5)->word[0]), SLOT_F64);
	memcpy(&value, &fixture_slot(0, 5)->word[1], sizeof value);
	ck_assert_double_eq(value, 0.5);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(keeps_every_type),
	UNIT_TEST(writes_a_null_text_as_words),
	UNIT_TEST(cuts_a_text_that_is_too_long),
	UNIT_TEST(keeps_a_slot_for_each_of_eight_texts),
	UNIT_TEST(cuts_the_ninth_argument),
	UNIT_TEST(gives_each_open_span_its_own_arguments),
	UNIT_TEST(cuts_run_time_names_after_255_bytes),
	UNIT_TEST(copies_a_run_time_name_when_the_span_begins),
	UNIT_TEST(keeps_steps_and_samples),
	{NULL},
};

UNIT_MAIN("args", .set_up = setup, .tear_down = fixture_close, .tests = tests)
