/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the facts about runs: they come from reports, hold while the files are the same, and are
 * limited in number.
 */
#include "daemon/host/web/run_facts.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "daemon/host/web/json_text.h"
#include "tests/unit/unit.h"

static const char report[] =
	"{\"start_unix_ns\": 1700000000123456789, \"duration_ns\": 500250000, \"names\": [{\"name\": \"x\"}],"
	" \"totals\": {\"spans\": 7, \"async_spans\": 1, \"instants\": 2, \"counter_samples\": 30,"
	" \"dropped\": 4, \"steps\": 5}, \"warnings\": [\"w1\", \"w2\"], \"errors\": []}";
static const struct run_state state = {.name = "mine", .written_ns = 1000, .n_bytes = 10};

static struct run_facts_cache *cache;
static json_t *told;

static void set_up(void)
{
	cache = malloc(sizeof *cache);
	run_facts_init(cache);
	told = NULL;
}

static void tear_down(void)
{
	json_decref(told);
	run_facts_deinit(cache);
	free(cache);
}

static void set(const struct run_state *of, const char *text)
{
	run_facts_set(cache, of, text, strlen(text), NULL);
}

static void tell(const struct run_state *of)
{
	struct json_text text;
	char *written;

	ck_assert_int_eq(json_text_begin(&text), 0);
	run_facts_write(cache, of, &text.json);
	written = json_text_end(&text, NULL);
	json_decref(told);
	told = json_loads(written, JSON_REJECT_DUPLICATES, NULL);
	ck_assert_msg(told != NULL, "%s", written);
	free(written);
}

static const json_t *get(const char *key)
{
	const json_t *value = json_object_get(told, key);

	ck_assert_msg(value != NULL, "%s is missing", key);
	return value;
}

static long long get_number(const char *key)
{
	ck_assert_msg(json_is_integer(get(key)), "%s is no whole number", key);
	return json_integer_value(get(key));
}

/* Checks that no fact but |key| is known. */
static void check_that_nothing_is_known(const char *key)
{
	static const char *const keys[] = {"duration_ms", "n_spans", "n_events", "n_dropped",
		"n_steps", "start_unix_ms", "warnings", "errors", "unreadable"};

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (strcmp(keys[i], key) != 0)
			ck_assert_msg(json_is_null(get(keys[i])), "%s", keys[i]);
}

START_TEST(facts_are_those_of_the_report)
{
	set(&state, report);
	ck_assert(run_facts_has(cache, &state));
	tell(&state);
	ck_assert_double_eq(json_number_value(get("duration_ms")), 500.25);
	ck_assert_int_eq(get_number("n_spans"), 7);
	ck_assert_int_eq(get_number("n_events"), 40);
	ck_assert_int_eq(get_number("n_dropped"), 4);
	ck_assert_int_eq(get_number("n_steps"), 5);
	ck_assert_int_eq(get_number("start_unix_ms"), 1700000000123);
	ck_assert_uint_eq(json_array_size(get("warnings")), 2);
	ck_assert_str_eq(json_string_value(json_array_get(get("warnings"), 1)), "w2");
	ck_assert_uint_eq(json_array_size(get("errors")), 0);
	ck_assert(json_is_null(get("unreadable")));
}
END_TEST

START_TEST(an_unread_run_has_no_facts)
{
	ck_assert(!run_facts_has(cache, &state));
	tell(&state);
	check_that_nothing_is_known("");
}
END_TEST

START_TEST(other_files_are_not_known)
{
	struct run_state other = state;

	set(&state, report);
	other.written_ns++;
	ck_assert(!run_facts_has(cache, &other));
	tell(&other);
	check_that_nothing_is_known("");
	other = state;
	other.n_bytes++;
	ck_assert(!run_facts_has(cache, &other));
	other = state;
	strcpy(other.name, "mine_2");
	ck_assert(!run_facts_has(cache, &other));
	/* Facts of a newer state replace the older ones. */
	set(&other, report);
	other.n_bytes++;
	set(&other, report);
	ck_assert_uint_eq(cache->n, 2);
	ck_assert(run_facts_has(cache, &other));
	ck_assert(run_facts_has(cache, &state));
}
END_TEST

START_TEST(unreadable_run_keeps_its_reason)
{
	run_facts_set(cache, &state, NULL, 0, "x.xplane.pb: no trace");
	ck_assert(run_facts_has(cache, &state));
	tell(&state);
	check_that_nothing_is_known("unreadable");
	ck_assert_str_eq(json_string_value(get("unreadable")), "x.xplane.pb: no trace");
}
END_TEST

START_TEST(an_invalid_report_is_reported)
{
	static const char *const texts[] = {"", "[]", "7", "{\"start_unix_ns\": 1", "\xff"};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		set(&state, texts[i]);
		tell(&state);
		check_that_nothing_is_known("unreadable");
		ck_assert_str_eq(
			json_string_value(get("unreadable")), "its report is not readable");
	}
}
END_TEST

START_TEST(members_of_another_type_are_unknown)
{
	set(&state,
		"{\"start_unix_ns\": \"1\", \"duration_ns\": 1.5, \"totals\": [], \"warnings\": 7,"
		" \"errors\": [1, \"e\"]}");
	tell(&state);
	ck_assert(json_is_null(get("duration_ms")));
	ck_assert(json_is_null(get("start_unix_ms")));
	ck_assert(json_is_null(get("n_spans")));
	ck_assert(json_is_null(get("warnings")));
	ck_assert(json_is_null(json_array_get(get("errors"), 0)));
	ck_assert_str_eq(json_string_value(json_array_get(get("errors"), 1)), "e");
}
END_TEST

START_TEST(texts_are_not_too_many)
{
	char text[4096] = "{\"warnings\": [\"w\"";

	for (int i = 0; i < 200; i++)
		strcat(text, ",\"w\"");
	strcat(text, "]}");
	set(&state, text);
	tell(&state);
	ck_assert_uint_eq(json_array_size(get("warnings")), 64);
}
END_TEST

START_TEST(the_oldest_makes_room)
{
	struct run_state many = state;

	for (unsigned i = 0; i <= RUN_FACTS_KEPT; i++) {
		snprintf(many.name, sizeof many.name, "run%u", i);
		set(&many, "{}");
	}
	ck_assert(run_facts_has(cache, &many));
	snprintf(many.name, sizeof many.name, "run1");
	ck_assert(run_facts_has(cache, &many));
	snprintf(many.name, sizeof many.name, "run0");
	ck_assert(!run_facts_has(cache, &many));
	ck_assert_uint_eq(cache->n, RUN_FACTS_KEPT);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(facts_are_those_of_the_report),
	UNIT_TEST(an_unread_run_has_no_facts),
	UNIT_TEST(other_files_are_not_known),
	UNIT_TEST(unreadable_run_keeps_its_reason),
	UNIT_TEST(an_invalid_report_is_reported),
	UNIT_TEST(members_of_another_type_are_unknown),
	UNIT_TEST(texts_are_not_too_many),
	UNIT_TEST(the_oldest_makes_room),
	{NULL},
};

UNIT_MAIN("run_facts", .set_up = set_up, .tear_down = tear_down, .tests = tests)
