/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the JSON writer with nests, numbers and hostile texts. */
#include "trace/json.h"

#include <check.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

static struct json json;
static char *written;
static size_t n_written;

static void set_up(void)
{
	json_begin(&json, open_memstream(&written, &n_written));
}

static void tear_down(void)
{
	free(written);
}

static void expect(const char *object)
{
	json_end(&json);
	fclose(json.out);
	ck_assert_str_eq(written, object);
}

START_TEST(commas_stand_between_members_only)
{
	json_begin_list(&json, "a");
	json_begin_object(&json, NULL);
	json_end_object(&json);
	json_begin_object(&json, NULL);
	json_bool(&json, "b", true);
	json_nothing(&json, "c");
	json_end_object(&json);
	json_end_list(&json);
	json_texts(&json, "d", (char *[]){(char *)"x", (char *)"y"}, 2);
	json_texts(&json, "e", NULL, 0);
	expect("{\"a\":[{},{\"b\":true,\"c\":null}],\"d\":[\"x\",\"y\"],\"e\":[]}\n");
}
END_TEST

START_TEST(numbers_are_whole)
{
	json_int(&json, "least", INT64_MIN);
	json_uint(&json, "most", UINT64_MAX);
	json_double(&json, "tenth", 0.1);
	json_double(&json, "third", 1.0 / 3);
	json_double(&json, "sum", 0.1 + 0.2);
	expect("{\"least\":-9223372036854775808,\"most\":18446744073709551615,"
	       "\"tenth\":0.1,\"third\":0.3333333333333333,\"sum\":0.30000000000000004}\n");
}
END_TEST

START_TEST(values_that_are_no_numbers_are_null)
{
	json_double(&json, "nan", 0.0 / 0.0);
	json_double(&json, "infinite", -1e308 * 10);
	expect("{\"nan\":null,\"infinite\":null}\n");
}
END_TEST

START_TEST(controls_are_escaped_by_code_point)
{
	json_text(&json, "c0", "\x01\n\x7f");
	json_text(&json, "c1", "\xc2\x9b");
	json_text(&json, "bidi", "\xe2\x80\xae\xe2\x81\xa6");
	json_text(&json, "quotes", "\"\\");
	expect("{\"c0\":\"\\u0001\\u000a\\u007f\",\"c1\":\"\\u009b\",\"bidi\":\"\\u202e\\u2066\","
	       "\"quotes\":\"\\\"\\\\\"}\n");
}
END_TEST

START_TEST(an_unknown_text_is_null)
{
	json_text(&json, "said", "");
	json_known_text(&json, "empty", "");
	json_known_text(&json, "none", NULL);
	json_known_text(&json, "known", "x");
	expect("{\"said\":\"\",\"empty\":null,\"none\":null,\"known\":\"x\"}\n");
}
END_TEST

START_TEST(text_is_utf8_or_a_question_mark)
{
	json_text(&json, "good", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	json_text(&json, "bad", "\xff\xe2\x82");
	json_text(&json, "none", NULL);
	expect("{\"good\":\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\",\"bad\":\"???\",\"none\":null}\n");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(commas_stand_between_members_only),
	UNIT_TEST(numbers_are_whole),
	UNIT_TEST(values_that_are_no_numbers_are_null),
	UNIT_TEST(controls_are_escaped_by_code_point),
	UNIT_TEST(an_unknown_text_is_null),
	UNIT_TEST(text_is_utf8_or_a_question_mark),
	{NULL},
};

UNIT_MAIN("json", .set_up = set_up, .tear_down = tear_down, .tests = tests)
