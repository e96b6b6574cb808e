/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the flight recorder's settings by the program and by the environment. */
#define PTAP_IMPL_BUILDING
#include <check.h>
#include <errno.h>
#include <proftap/proftap.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "lib/control/launch.h"
#include "tests/unit/unit.h"

static struct ptap_server_options o;
static struct recorder_text text;
static struct diag d;

static int find(int recorder, const char *options, const char *variable)
{
	o = (struct ptap_server_options)PTAP_SERVER_OPTIONS_INIT;
	o.recorder = recorder;
	o.recorder_options = options;
	if (variable)
		setenv("PROFTAP_RECORDER", variable, 1);
	else
		unsetenv("PROFTAP_RECORDER");
	return recorder_settings_find(&o, &text, &d);
}

static void expect(bool is_on, const char *lines)
{
	ck_assert_int_eq(o.recorder, is_on);
	ck_assert_ptr_eq(o.recorder_options, text.lines);
	ck_assert_str_eq(text.lines, lines);
}

START_TEST(is_off_unless_somebody_asks)
{
	ck_assert_int_eq(find(0, NULL, NULL), 0);
	expect(false, "");
	ck_assert_int_eq(find(0, NULL, "0"), 0);
	expect(false, "");
	ck_assert_int_eq(find(0, NULL, ""), 0);
	expect(false, "");
}
END_TEST

START_TEST(the_program_switches_the_recorder_on)
{
	ck_assert_int_eq(find(1, "a=1,b=2\nc=3", NULL), 0);
	expect(true, "a=1\nb=2\nc=3\n");
	ck_assert_int_eq(find(1, NULL, "0"), 0);
	expect(true, "");
}
END_TEST

START_TEST(the_environment_switches_the_recorder_on)
{
	ck_assert_int_eq(find(0, NULL, "1"), 0);
	expect(true, "");
	ck_assert_int_eq(find(0, NULL, "a=1,b=2"), 0);
	expect(true, "a=1\nb=2\n");
}
END_TEST

START_TEST(options_of_the_environment_come_last)
{
	ck_assert_int_eq(find(0, "a=1", "1"), 0);
	expect(true, "a=1\n");
	ck_assert_int_eq(find(1, "a=1", "a=2"), 0);
	expect(true, "a=1\na=2\n");
}
END_TEST

START_TEST(a_bad_variable_is_refused_with_the_valid_values)
{
	ck_assert_int_eq(find(0, NULL, "yes"), -EINVAL);
	ck_assert_str_eq(
		d.text, "PROFTAP_RECORDER: bad value \"yes\": must be 1, 0 or KEY=VALUE,...");
}
END_TEST

/* A line end and the terminator need a byte each. */
START_TEST(options_have_a_bound)
{
	char options[sizeof text.lines + 1];

	memset(options, 'a', sizeof options);
	options[sizeof text.lines - 2] = '\0';
	ck_assert_int_eq(find(1, options, NULL), 0);
	ck_assert_uint_eq(strlen(text.lines), sizeof text.lines - 1);
	ck_assert_int_eq(find(1, options, "b=1"), -EINVAL);
	ck_assert_str_eq(d.text,
		"PROFTAP_RECORDER: the recorder's options are longer than 511 bytes in all");
	options[sizeof text.lines - 2] = 'a';
	options[sizeof text.lines - 1] = '\0';
	ck_assert_int_eq(find(1, options, NULL), -EINVAL);
	ck_assert_str_eq(d.text,
		".recorder_options: the recorder's options are longer than 511 bytes in all");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(is_off_unless_somebody_asks),
	UNIT_TEST(the_program_switches_the_recorder_on),
	UNIT_TEST(the_environment_switches_the_recorder_on),
	UNIT_TEST(options_of_the_environment_come_last),
	UNIT_TEST(a_bad_variable_is_refused_with_the_valid_values),
	UNIT_TEST(options_have_a_bound),
	{NULL},
};

UNIT_MAIN("recorder_settings", .tests = tests)
