/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the text that tells collectors the options of a capture. */
#include "daemon/pipeline/recording/collect_options.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/profile_options.h"
#include "tests/unit/unit.h"

static struct profile_options options;
static char text[3072];

static void set(const char *key_value)
{
	struct diag d = DIAG_INIT;

	ck_assert_msg(profile_options_parse(&options, key_value, &d) >= 0, "%s", d.text);
}

static void set_up(void)
{
	profile_options_init(&options);
}

static void tear_down(void)
{
	profile_options_deinit(&options);
}

static void check_line(const char *line)
{
	const char *at = strstr(text, line);

	ck_assert_msg(at && (at == text || at[-1] == '\n') && at[strlen(line)] == '\n',
		"no line %s in %s", line, text);
}

START_TEST(defaults_are_those_of_the_table)
{
	ck_assert_int_eq(collect_options_format(&options, text, sizeof text), 0);
	check_line("device_tracer_level=1");
	check_line("gpu_max_callback_api_events=2097152");
	check_line("gpu_enable_nvtx_tracking=false");
	ck_assert_ptr_null(strstr(text, "gpu_pm_sample_counters="));
	ck_assert_ptr_null(strstr(text, "host_tracer_level"));
	ck_assert_ptr_null(strstr(text, "tpu_"));
}
END_TEST

START_TEST(options_are_formatted_as_they_were_parsed)
{
	set("gpu_max_callback_api_events=-1");
	set("gpu_enable_nvtx_tracking=1");
	set("gpu_pm_sample_counters=a.sum, b.avg");
	set("other_vendors_key=7");
	set("other_vendors_word=some words");
	ck_assert_int_eq(collect_options_format(&options, text, sizeof text), 0);
	check_line("gpu_max_callback_api_events=-1");
	check_line("gpu_enable_nvtx_tracking=true");
	check_line("gpu_pm_sample_counters=a.sum, b.avg");
	check_line("other_vendors_key=7");
	check_line("other_vendors_word=some words");
}
END_TEST

/* A line end in an option's value cannot begin a second option. */
START_TEST(a_line_end_in_a_value_is_a_blank)
{
	set("other=1\ngpu_enable_nvtx_tracking=true");
	ck_assert_int_eq(collect_options_format(&options, text, sizeof text), 0);
	check_line("gpu_enable_nvtx_tracking=false");
	check_line("other=1 gpu_enable_nvtx_tracking=true");
}
END_TEST

START_TEST(options_that_do_not_fit_are_refused)
{
	char *counters = malloc(4096);

	strcpy(counters, "gpu_pm_sample_counters=");
	memset(counters + strlen(counters), 'a', 3072);
	counters[strlen("gpu_pm_sample_counters=") + 3071] = '\0';
	set(counters);
	ck_assert_int_eq(collect_options_format(&options, text, sizeof text), -ENOSPC);
	free(counters);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(defaults_are_those_of_the_table),
	UNIT_TEST(options_are_formatted_as_they_were_parsed),
	UNIT_TEST(a_line_end_in_a_value_is_a_blank),
	UNIT_TEST(options_that_do_not_fit_are_refused),
	{NULL},
};

UNIT_MAIN("collect options", .set_up = set_up, .tear_down = tear_down, .tests = tests)
