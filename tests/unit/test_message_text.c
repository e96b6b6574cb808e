/* SPDX-License-Identifier: Apache-2.0 */
/* Tests messages as text. */
#include "daemon/serve/message/message_text.h"

#include <check.h>
#include <string.h>

#include "proftap/v1/profiler.pb-c.h"
#include "tests/unit/unit.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

static char text[256];

START_TEST(fields_that_are_set_appear_by_name)
{
	Proftap__V1__CaptureRequest request = PROFTAP__V1__CAPTURE_REQUEST__INIT;
	Tensorflow__ProfileOptions options = TENSORFLOW__PROFILE_OPTIONS__INIT;

	options.duration_ms = 500;
	options.host_tracer_level = 2;
	options.session_id = (char *)"mine";
	request.options = &options;
	request.progress_interval_ms = 50;
	message_text_write(&request.base, text, sizeof text);
	ck_assert_str_eq(text,
		"host_tracer_level=2 duration_ms=500 session_id=mine progress_interval_ms=50");
}
END_TEST

START_TEST(an_entry_appears_by_its_key)
{
	typedef Tensorflow__ProfileOptions__AdvancedConfigurationEntry Entry;
	typedef Tensorflow__ProfileOptions__AdvancedConfigValue Value;
	Tensorflow__ProfileOptions options = TENSORFLOW__PROFILE_OPTIONS__INIT;
	Value values[] = {TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__INIT,
		TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__INIT};
	Entry entries[] = {TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIGURATION_ENTRY__INIT,
		TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIGURATION_ENTRY__INIT};
	Entry *pointers[] = {&entries[0], &entries[1]};

	entries[0].key = (char *)"ptap_target";
	entries[0].value = &values[0];
	values[0].value_case =
		TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__VALUE_STRING_VALUE;
	values[0].string_value = (char *)"train\x1b[31m";
	entries[1].key = (char *)"gpu_max";
	entries[1].value = &values[1];
	values[1].value_case =
		TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__VALUE_INT64_VALUE;
	values[1].int64_value = 0;
	options.advanced_configuration = pointers;
	options.n_advanced_configuration = 2;
	message_text_write(&options.base, text, sizeof text);
	ck_assert_str_eq(text, "ptap_target=train?[31m gpu_max=0");
}
END_TEST

START_TEST(elements_of_lists_appear_one_by_one)
{
	Tensorflow__ProfileRequest request = TENSORFLOW__PROFILE_REQUEST__INIT;
	char *tools[] = {(char *)"a", (char *)"b"};

	request.tools = tools;
	request.n_tools = 2;
	request.emit_xspace = 1;
	message_text_write(&request.base, text, sizeof text);
	ck_assert_str_eq(text, "tools=a tools=b emit_xspace=1");
}
END_TEST

START_TEST(long_text_is_truncated)
{
	Tensorflow__ProfileRequest request = TENSORFLOW__PROFILE_REQUEST__INIT;

	request.session_id = (char *)"0123456789";
	request.host_name = (char *)"here";
	message_text_write(&request.base, text, 16);
	ck_assert_str_eq(text, "session_id=0123");
	message_text_write(&request.base, text, 1);
	ck_assert_str_eq(text, "");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(fields_that_are_set_appear_by_name),
	UNIT_TEST(an_entry_appears_by_its_key),
	UNIT_TEST(elements_of_lists_appear_one_by_one),
	UNIT_TEST(long_text_is_truncated),
	{NULL},
};

UNIT_MAIN("message_text", .tests = tests)
