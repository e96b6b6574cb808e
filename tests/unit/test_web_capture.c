/* SPDX-License-Identifier: Apache-2.0 */
/* Tests requests for captures by HTTP: which bodies are accepted, and how others are refused. */
#include "daemon/host/web/web_capture.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "tests/unit/unit.h"

static struct web_capture request;
static struct diag diag;
static bool is_parsed;

static void forget(void)
{
	if (is_parsed)
		web_capture_deinit(&request);
	is_parsed = false;
}

static int parse_bytes(const char *body, size_t n)
{
	forget();
	diag = (struct diag)DIAG_INIT;
	is_parsed = true;
	return web_capture_parse(&request, body, n, &diag);
}

static int parse(const char *body)
{
	return parse_bytes(body, strlen(body));
}

static void accept(const char *body)
{
	ck_assert_msg(parse(body) == 0, "%s: refused: %s", body, diag.text);
}

/* The message names what is wrong. */
static void refuse(const char *body, const char *why)
{
	ck_assert_msg(parse(body) == -EINVAL, "%s: accepted", body);
	ck_assert_msg(strstr(diag.text, why) != NULL, "%s: \"%s\" is not in \"%s\"", body, why,
		diag.text);
}

/* The targets. */

START_TEST(a_program_is_a_number_or_a_word)
{
	accept("{\"target\": 4242, \"duration_ms\": 500}");
	ck_assert_uint_eq(request.n_targets, 1);
	ck_assert_str_eq(request.targets[0], "4242");
	ck_assert_str_eq(request.next, "");
	ck_assert_uint_eq(request.duration_ms, 500);
	accept("{\"target\": \"pod=a b\", \"duration_ms\": 1}");
	ck_assert_str_eq(request.targets[0], "pod=a b");
	/* This parser does not decide whether the word names a program. */
	accept("{\"target\": -1, \"duration_ms\": 1}");
	ck_assert_str_eq(request.targets[0], "-1");
}
END_TEST

START_TEST(a_list_selects_several_programs)
{
	accept("{\"target\": [1, \"train\", \"/bin/x\"], \"duration_ms\": 1}");
	ck_assert_uint_eq(request.n_targets, 3);
	ck_assert_str_eq(request.targets[0], "1");
	ck_assert_str_eq(request.targets[1], "train");
	ck_assert_str_eq(request.targets[2], "/bin/x");
}
END_TEST

static void format_targets(char *body, size_t n)
{
	strcpy(body, "{\"duration_ms\": 1, \"target\": [");
	for (size_t i = 0; i < n; i++)
		sprintf(body + strlen(body), "%s%zu", i ? "," : "", i);
	strcat(body, "]}");
}

START_TEST(number_of_targets_is_bounded)
{
	char body[4096];

	format_targets(body, WEB_CAPTURE_MAX_TARGETS);
	accept(body);
	ck_assert_uint_eq(request.n_targets, WEB_CAPTURE_MAX_TARGETS);
	format_targets(body, WEB_CAPTURE_MAX_TARGETS + 1);
	refuse(body, "target: 64 at most");
}
END_TEST

START_TEST(bad_targets_are_refused)
{
	static const char *const values[] = {
		"null", "true", "1.5", "{}", "[]", "\"\"", "[\"\"]", "[[1]]", "[1, null]"};
	char body[1024];

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		snprintf(body, sizeof body, "{\"target\": %s, \"duration_ms\": 1}", values[i]);
		refuse(body, "target: must be a pid, a name, a path, LABEL=VALUE or all");
	}
}
END_TEST

START_TEST(words_have_an_end)
{
	char body[2 * WEB_CAPTURE_TARGET_BYTES];
	char word[WEB_CAPTURE_TARGET_BYTES + 1];

	memset(word, 'a', sizeof word - 1);
	word[sizeof word - 2] = '\0';
	snprintf(body, sizeof body, "{\"target\": \"%s\", \"duration_ms\": 1}", word);
	accept(body);
	ck_assert_uint_eq(strlen(request.targets[0]), WEB_CAPTURE_TARGET_BYTES - 1);
	snprintf(body, sizeof body, "{\"target\": \"%sa\", \"duration_ms\": 1}", word);
	refuse(body, "of 1 to 511 bytes");
	snprintf(body, sizeof body, "{\"next\": \"%sa\", \"duration_ms\": 1}", word);
	refuse(body, "next: must be a text of 1 to 511 bytes");
}
END_TEST

START_TEST(next_takes_a_pattern_and_a_wait)
{
	accept("{\"next\": \"train*\", \"duration_ms\": 1}");
	ck_assert_str_eq(request.next, "train*");
	ck_assert_uint_eq(request.n_targets, 0);
	ck_assert_uint_eq(request.wait_ms, WEB_CAPTURE_WAIT_MS);
	accept("{\"wait_ms\": 1000, \"next\": \"t\", \"duration_ms\": 1}");
	ck_assert_uint_eq(request.wait_ms, 1000);
	refuse("{\"next\": \"t\", \"duration_ms\": 1, \"wait_ms\": 999}", "wait_ms: must be");
	refuse("{\"next\": \"t\", \"duration_ms\": 1, \"wait_ms\": 3600001}", "1000 to 3600000");
	refuse("{\"target\": 1, \"duration_ms\": 1, \"wait_ms\": 1000}", "only allowed with next");
	refuse("{\"next\": \"t\", \"target\": 1, \"duration_ms\": 1}", "say either");
	refuse("{\"duration_ms\": 1}", "target: say either");
}
END_TEST

/* Tests of the duration. */

START_TEST(a_duration_is_a_whole_number_in_its_range)
{
	static const char *const wrong[] = {
		"0", "-1", "86400001", "1.0", "1e3", "\"500\"", "null", "9223372036854775807"};
	char body[128];

	accept("{\"target\": 1, \"duration_ms\": 86400000}");
	ck_assert_uint_eq(request.duration_ms, WEB_CAPTURE_MAX_DURATION_MS);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		snprintf(body, sizeof body, "{\"target\": 1, \"duration_ms\": %s}", wrong[i]);
		refuse(body, "duration_ms: must be a whole number of 1 to 86400000 ms");
	}
	refuse("{\"target\": 1}", "duration_ms: is missing");
}
END_TEST

/* Options. */

START_TEST(options_are_those_of_the_table)
{
	accept("{\"target\": 1, \"duration_ms\": 1, \"options\": {\"host_tracer_level\": 3, "
	       "\"ptap_usage_interval_ms\": \"20\", \"ptap_machine_usage\": false}}");
	ck_assert_uint_eq(request.options.host_tracer_level, 3);
	ck_assert_uint_eq(request.options.n_map, 2);
	ck_assert_str_eq(request.options.map[0].key, "ptap_usage_interval_ms");
	ck_assert_int_eq(request.options.map[0].number, 20);
	ck_assert_str_eq(request.options.map[1].key, "ptap_machine_usage");
	ck_assert_int_eq(request.options.map[1].number, 0);
	ck_assert_str_eq(request.options_text,
		"{\"host_tracer_level\":3,\"ptap_usage_interval_ms\":\"20\","
		"\"ptap_machine_usage\":false}");
	ck_assert_uint_eq(request.n_warnings, 0);
	accept("{\"target\": 1, \"duration_ms\": 1}");
	ck_assert_str_eq(request.options_text, "{}");
	ck_assert_uint_eq(request.options.host_tracer_level, 2);
}
END_TEST

static void refuse_options(const char *options, const char *why)
{
	char body[2048];

	snprintf(
		body, sizeof body, "{\"target\": 1, \"duration_ms\": 1, \"options\": %s}", options);
	refuse(body, why);
}

START_TEST(options_that_are_wrong_are_named)
{
	char options[1200] = "{\"override_hostname\": \"";

	refuse_options("[]", "options: must be an object");
	refuse_options("{\"host_tracer_level\": 4}", "host_tracer_level: bad value \"4\"");
	refuse_options("{\"host_tracer_level\": 1.5}", "host_tracer_level: must be a whole number");
	refuse_options("{\"host_tracer_level\": null}", "host_tracer_level: must be");
	refuse_options("{\"ptap_usage_interval_mss\": 1}", "ptap_usage_interval_ms");
	refuse_options("{\"duration_ms\": 1}", "options: duration_ms: not here");
	refuse_options("{\"session_id\": \"x\"}", "options: session_id: not here");
	refuse_options("{\"\": 1}", "options: \"\": not a key");
	refuse_options("{\"a=b\": 1}", "options: \"a=b\": not a key");
	refuse_options("{\"ptap_trigger_step\": \"2\"}", "ptap_trigger_step");
	memset(options + strlen(options), 'a', 1100);
	strcpy(options + 1120, "\"}");
	refuse_options(options, "override_hostname: must be");
	/* The text has a NUL in the middle. */
	refuse_options("{\"override_hostname\": \"a\\u0000b\"}", "NUL");
}
END_TEST

START_TEST(options_that_are_ignored_are_warned_of)
{
	accept("{\"target\": 1, \"duration_ms\": 1, \"options\": {\"colour\": 1, \"taste\": \"x\"}}");
	ck_assert_uint_eq(request.n_warnings, 2);
	ck_assert_ptr_nonnull(strstr(request.warnings[0], "colour"));
	ck_assert_ptr_nonnull(strstr(request.warnings[1], "taste"));
}
END_TEST

START_TEST(triggered_capture_has_no_delay)
{
	accept("{\"target\": 1, \"duration_ms\": 1, \"options\": {\"delay_ms\": 86400000}}");
	ck_assert_uint_eq(request.options.delay_ms, 86400000);
	refuse("{\"target\": 1, \"duration_ms\": 1, \"options\": {\"delay_ms\": 86400001}}",
		"options: delay_ms: 86400000 at most");
	refuse("{\"next\": \"t\", \"duration_ms\": 1, \"options\": {\"delay_ms\": 1}}",
		"not allowed with next");
	refuse("{\"next\": \"t\", \"duration_ms\": 1, \"options\": {\"start_timestamp_ns\": 1}}",
		"not allowed with next");
}
END_TEST

/* Snapshots. */

START_TEST(a_snapshot_is_of_a_session)
{
	accept("{\"target\": 1, \"snapshot\": \"\"}");
	ck_assert(request.is_snapshot && !request.ends);
	ck_assert_str_eq(request.session, "");
	accept("{\"target\": 1, \"snapshot\": \"recorder\", \"last_ms\": 250, \"run\": \"mine\"}");
	ck_assert_str_eq(request.session, "recorder");
	ck_assert_uint_eq(request.last_ms, 250);
	accept("{\"target\": \"all\", \"snapshot\": \"nightly\", \"end\": true}");
	ck_assert(request.ends);
	accept("{\"target\": 1, \"duration_ms\": 1, \"end\": false}");
	ck_assert(!request.is_snapshot);
}
END_TEST

START_TEST(snapshot_takes_no_capture_options)
{
	char body[300];
	char name[129];

	refuse("{\"target\": 1, \"snapshot\": \"\", \"duration_ms\": 1}",
		"duration_ms: not allowed with snapshot");
	refuse("{\"next\": \"t\", \"snapshot\": \"\"}", "next: not allowed with snapshot");
	refuse("{\"target\": 1, \"snapshot\": \"\", \"options\": {}}",
		"options: not allowed with snapshot");
	refuse("{\"target\": 1, \"snapshot\": \"\", \"wait_ms\": 1000}",
		"wait_ms: not allowed with snapshot");
	refuse("{\"snapshot\": \"\"}", "target: is missing");
	refuse("{\"target\": 1, \"snapshot\": true}", "snapshot: must be the name of a session");
	memset(name, 'a', sizeof name);
	name[128] = '\0';
	snprintf(body, sizeof body, "{\"target\": 1, \"snapshot\": \"%s\"}", name);
	refuse(body, "snapshot: must be");
	refuse("{\"target\": 1, \"snapshot\": \"\", \"end\": true, \"last_ms\": 5}",
		"last_ms: not allowed with end");
	refuse("{\"target\": 1, \"snapshot\": \"\", \"end\": 1}", "end: must be true or false");
	refuse("{\"target\": 1, \"snapshot\": \"\", \"last_ms\": 0}",
		"last_ms: must be a whole number");
	refuse("{\"target\": 1, \"duration_ms\": 1, \"last_ms\": 5}", "only allowed with snapshot");
	refuse("{\"target\": 1, \"duration_ms\": 1, \"end\": true}", "only allowed with snapshot");
}
END_TEST

/* The run. */

START_TEST(a_run_has_a_name_that_is_no_path)
{
	static const char *const wrong[] = {"../x", "a/b", ".hidden", "a b", "\\u0000"};
	char body[512];
	char name[200];

	accept("{\"target\": 1, \"duration_ms\": 1, \"run\": \"mine.2-b_\"}");
	ck_assert_str_eq(request.run, "mine.2-b_");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		snprintf(body, sizeof body, "{\"target\": 1, \"duration_ms\": 1, \"run\": \"%s\"}",
			wrong[i]);
		ck_assert_msg(parse(body) == -EINVAL, "%s", wrong[i]);
	}
	memset(name, 'a', sizeof name);
	name[128] = '\0';
	snprintf(body, sizeof body, "{\"target\": 1, \"duration_ms\": 1, \"run\": \"%s\"}", name);
	refuse(body, "run: must be a text of 1 to 127 bytes");
	refuse("{\"target\": 1, \"duration_ms\": 1, \"run\": 7}", "run: must be a text");
}
END_TEST

/* The whole body. */

START_TEST(body_that_is_no_object_is_refused)
{
	static const char *const bodies[] = {"[]", "7", "null", "\"x\"", "true"};

	for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
		ck_assert_msg(parse(bodies[i]) == -EINVAL, "%s", bodies[i]);
	refuse("[]", "the body must be a JSON object");
	refuse("", "the body is no JSON: line 1, column 0");
	refuse("{\n  \"target\": }", "line 2, column 13");
	refuse("{} x", "the body is no JSON");
	refuse("{\"target\": 1, \"target\": 2}", "duplicate");
	refuse("{\"target\": 1, \"duration_ms\": 1, \"tea\": 1}", "tea: no such member");
	ck_assert_int_eq(parse_bytes("{}\0", 3), -EINVAL);
}
END_TEST

START_TEST(depth_has_an_end)
{
	static char body[1 << 16];

	memset(body, '[', sizeof body - 1);
	ck_assert_int_eq(parse(body), -EINVAL);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_program_is_a_number_or_a_word),
	UNIT_TEST(a_list_selects_several_programs),
	UNIT_TEST(number_of_targets_is_bounded),
	UNIT_TEST(bad_targets_are_refused),
	UNIT_TEST(words_have_an_end),
	UNIT_TEST(next_takes_a_pattern_and_a_wait),
	UNIT_TEST(a_duration_is_a_whole_number_in_its_range),
	UNIT_TEST(a_snapshot_is_of_a_session),
	UNIT_TEST(snapshot_takes_no_capture_options),
	UNIT_TEST(options_are_those_of_the_table),
	UNIT_TEST(options_that_are_wrong_are_named),
	UNIT_TEST(options_that_are_ignored_are_warned_of),
	UNIT_TEST(triggered_capture_has_no_delay),
	UNIT_TEST(a_run_has_a_name_that_is_no_path),
	UNIT_TEST(body_that_is_no_object_is_refused),
	UNIT_TEST(depth_has_an_end),
	{NULL},
};

UNIT_MAIN("web_capture", .tear_down = forget, .tests = tests)
