/* SPDX-License-Identifier: Apache-2.0 */
#include "base/profile_options.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/trigger.h"
#include "daemon/pipeline/recording/capture_request.h"
#include "tests/unit/unit.h"

static struct profile_options options;

static void setup(void)
{
	profile_options_init(&options);
}

static void teardown(void)
{
	profile_options_deinit(&options);
}

static void refuse(const char *key_value, const char *const words[3])
{
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(profile_options_parse(&options, key_value, &d), -EINVAL);
	for (int i = 0; i < 3; i++)
		ck_assert_msg(strstr(d.text, words[i]), "%s: said: %s", key_value, d.text);
	ck_assert_uint_eq(options.n_map, 0);
}

START_TEST(begins_with_the_defaults)
{
	ck_assert_uint_eq(options.host_tracer_level, 2);
	ck_assert_uint_eq(options.device_tracer_level, 1);
	ck_assert_uint_eq(options.python_tracer_level, 0);
	ck_assert_uint_eq(options.duration_ms, 0);
	ck_assert_uint_eq(options.start_timestamp_ns, 0);
	ck_assert_str_eq(options.session_id, "");
	ck_assert_uint_eq(options.n_map, 0);
}
END_TEST

START_TEST(sets_every_field)
{
	ck_assert_int_eq(profile_options_parse(&options, "host_tracer_level=3", NULL), 0);
	ck_assert_int_eq(profile_options_parse(&options, "device_tracer_level=0", NULL), 0);
	ck_assert_int_eq(profile_options_parse(&options, "python_tracer_level=1", NULL), 0);
	ck_assert_int_eq(profile_options_parse(&options, "duration_ms=500", NULL), 0);
	ck_assert_int_eq(profile_options_parse(&options, "delay_ms=20", NULL), 0);
	ck_assert_int_eq(
		profile_options_parse(&options, "start_timestamp_ns=1700000000000000000", NULL), 0);
	ck_assert_int_eq(profile_options_parse(&options, "session_id=run-1_a", NULL), 0);
	ck_assert_uint_eq(options.host_tracer_level, 3);
	ck_assert_uint_eq(options.device_tracer_level, 0);
	ck_assert_uint_eq(options.python_tracer_level, 1);
	ck_assert_uint_eq(options.duration_ms, 500);
	ck_assert_uint_eq(options.delay_ms, 20);
	ck_assert_uint_eq(options.start_timestamp_ns, UINT64_C(1700000000000000000));
	ck_assert_str_eq(options.session_id, "run-1_a");
	ck_assert_uint_eq(options.n_map, 0);
}
END_TEST

START_TEST(a_recorder_has_few_options)
{
	static const char *const refused[][2] = {
		{"delay_ms=5", "delay_ms: not an option of a flight recorder; its options are "},
		{"duration_ms=5", "duration_ms: not"},
		{"start_timestamp_ns=5", "start_timestamp_ns: not"},
		{"python_tracer_level=1", "python_tracer_level: not"},
		{"session_id=a", "session_id: not"},
		{"gpu_enable_nvtx_tracking=1",
			"its options are host_tracer_level, ptap_max_capture_bytes"},
		{"ptap_usage_interval_ms=0", "ptap_usage_interval_ms: not"},
		{"host_tracer_level=0", "host_tracer_level: 0 records nothing"},
		{"foo=1", "the nearest known one is ptap_offcpu (true or false)"},
		{"host_tracer_levl=1", "the nearest known one is host_tracer_level (0 to 3)"},
	};
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(profile_options_check_recorder(&options, &d), 0);
	ck_assert_int_eq(profile_options_parse(&options, "host_tracer_level=1", &d), 0);
	ck_assert_int_eq(profile_options_parse(&options, "ptap_max_capture_bytes=4194304", &d), 0);
	ck_assert_int_eq(profile_options_check_recorder(&options, &d), 0);
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		profile_options_deinit(&options);
		ck_assert_int_ge(profile_options_parse(&options, refused[i][0], &d), 0);
		ck_assert_int_eq(profile_options_check_recorder(&options, &d), -EINVAL);
		ck_assert_msg(strstr(d.text, refused[i][1]), "said: %s", d.text);
	}
}
END_TEST

START_TEST(triggers_have_a_form)
{
	static const char *const good[] = {"ptap_trigger_span=decode:100ms",
		"ptap_trigger_span=a::1us;a b:2.5s;c=d:86400s", "ptap_trigger_step=1.5",
		"ptap_trigger_step=1000000", "ptap_trigger_counter=queue>1000",
		"ptap_trigger_counter=a>b<-1.5e3;c>0", "ptap_trigger_interval_ms=1000"};
	static const char *const bad[] = {"ptap_trigger_span=", "ptap_trigger_span=decode",
		"ptap_trigger_span=:1ms", "ptap_trigger_span=a:1", "ptap_trigger_span=a:ms",
		"ptap_trigger_span=a:1 ms", "ptap_trigger_span=a:1m", "ptap_trigger_span=a:-1ms",
		"ptap_trigger_span=a:0.9us", "ptap_trigger_span=a:86401s",
		"ptap_trigger_span=a:1ms;", "ptap_trigger_span=a:1.2.3s",
		"ptap_trigger_span=a:0x1s", "ptap_trigger_step=1",
		"ptap_trigger_step=", "ptap_trigger_step=x", "ptap_trigger_step=2x",
		"ptap_trigger_step=-2", "ptap_trigger_step=1000001", "ptap_trigger_step=1e3",
		"ptap_trigger_counter=queue", "ptap_trigger_counter=>1", "ptap_trigger_counter=a>",
		"ptap_trigger_counter=a>b", "ptap_trigger_counter=a>1;",
		"ptap_trigger_counter=a>1e999", "ptap_trigger_counter=a>nan",
		"ptap_trigger_interval_ms=999", "ptap_trigger_interval_ms=86400001"};
	struct diag d = DIAG_INIT;

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		ck_assert_int_eq(profile_options_parse(&options, good[i], &d), 0);
	ck_assert_int_eq(profile_options_check_recorder(&options, &d), 0);
	ck_assert_int_eq(profile_options_check_recording(&options, &d), -EINVAL);
	ck_assert_str_eq(d.text,
		"ptap_trigger_span: an option of a flight recorder only: proftap start --recorder");
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		ck_assert_msg(profile_options_parse(&options, bad[i], &d) == -EINVAL, "%s", bad[i]);
	ck_assert_int_eq(profile_options_parse(&options, "ptap_trigger_counter=a=1", &d), -EINVAL);
	ck_assert_str_eq(d.text,
		"ptap_trigger_counter: bad value \"a=1\": must be NAME>BOUND or NAME<BOUND; several with "
		"';' between them");
}
END_TEST

START_TEST(triggers_are_read)
{
	struct trigger_list list = {.n = 0};
	char text[TRIGGER_NAME_BYTES + 4];

	ck_assert_int_eq(trigger_parse_spans("a::1us;a b:2.5s", &list), 0);
	ck_assert_int_eq(trigger_parse_counters("a>b<-1.5e3;c>0", &list), 0);
	ck_assert_int_eq(trigger_parse_step("1.25", &list), 0);
	ck_assert_uint_eq(list.n, 4);
	ck_assert_str_eq(list.v[0].name, "a:");
	ck_assert_int_eq(list.v[0].kind, TRIGGER_SPAN);
	ck_assert_int_eq(list.v[0].bound_ns, 1000);
	ck_assert_str_eq(list.v[1].name, "a b");
	ck_assert_int_eq(list.v[1].bound_ns, INT64_C(2500000000));
	ck_assert_str_eq(list.v[2].name, "a>b");
	ck_assert_int_eq(list.v[2].kind, TRIGGER_COUNTER_BELOW);
	ck_assert_double_eq(list.v[2].bound, -1500);
	ck_assert_uint_eq(list.v[3].n_name, 1);
	ck_assert_int_eq(list.v[3].kind, TRIGGER_COUNTER_ABOVE);
	ck_assert_double_eq(list.step_factor, 1.25);
	memset(text, 'a', sizeof text);
	strcpy(text + TRIGGER_NAME_BYTES, ">1");
	ck_assert_int_eq(trigger_parse_counters(text, &list), -EINVAL);
	ck_assert_int_eq(trigger_parse_counters(text + 1, &list), 0);
	trigger_list_deinit(&list);
}
END_TEST

START_TEST(a_program_writes_a_recorders_options)
{
	char lines[] =
		"host_tracer_level=1\n\nptap_max_capture_bytes=9000000\nhost_tracer_level=3\n";
	char bad[] = "host_tracer_level=1\nhost_tracer_level=9\n";
	char unknown[] = "delay_ms=1\nhost_tracer_level=3\n";
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(recorder_options_parse(&options, lines, &d), 0);
	ck_assert_uint_eq(options.host_tracer_level, 3);
	ck_assert_int_eq(
		profile_options_get_number(&options, "ptap_max_capture_bytes", 7), 9000000);
	ck_assert_int_eq(recorder_options_parse(&options, bad, &d), -EINVAL);
	ck_assert_msg(strstr(d.text, "must be 0 to 3"), "said: %s", d.text);
	ck_assert_int_eq(recorder_options_parse(&options, unknown, &d), -EINVAL);
	ck_assert_msg(strstr(d.text, "delay_ms: not an option"), "said: %s", d.text);
}
END_TEST

/* The help has only options that an endless session can have. */
START_TEST(help_is_of_one_use)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	options_print_help(OPTION_OF_SESSION, out);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "  host_tracer_level "));
	ck_assert_ptr_null(strstr(text, "duration_ms"));
	ck_assert_ptr_null(strstr(text, "delay_ms"));
	ck_assert_ptr_null(strstr(text, "start_timestamp_ns"));
}
END_TEST

START_TEST(keeps_map_values_with_their_types)
{
	ck_assert_int_eq(
		profile_options_parse(&options, "ptap_max_capture_bytes=4194304", NULL), 0);
	ck_assert_int_eq(profile_options_parse(&options, "use_system_hostname=yes", NULL), 0);
	ck_assert_int_eq(profile_options_parse(&options, "gpu_pm_sample_counters=a,b=c", NULL), 0);
	ck_assert_uint_eq(options.n_map, 3);
	ck_assert_int_eq(options.map[0].type, OPTION_INT);
	ck_assert_int_eq(options.map[0].number, 4194304);
	ck_assert_int_eq(options.map[1].type, OPTION_BOOL);
	ck_assert_int_eq(options.map[1].number, 1);
	ck_assert_int_eq(options.map[2].type, OPTION_STRING);
	ck_assert_str_eq(options.map[2].text, "a,b=c");
}
END_TEST

START_TEST(lets_the_last_value_win)
{
	ck_assert_int_eq(profile_options_parse(&options, "override_hostname=a", NULL), 0);
	ck_assert_int_eq(profile_options_parse(&options, "override_hostname=b", NULL), 0);
	ck_assert_uint_eq(options.n_map, 1);
	ck_assert_str_eq(options.map[0].text, "b");
}
END_TEST

START_TEST(names_key_value_and_range_of_bad_values)
{
	refuse("host_tracer_level=4", (const char *const[]){"host_tracer_level", "4", "0 to 3"});
	refuse("host_tracer_level=", (const char *const[]){"host_tracer_level", "\"\"", "0 to 3"});
	refuse("host_tracer_level= 1", (const char *const[]){"host_tracer_level", " 1", "0 to 3"});
	refuse("duration_ms=-1", (const char *const[]){"duration_ms", "-1", "at least 0"});
	refuse("duration_ms=9223372036854775808",
		(const char *const[]){"duration_ms", "9223372036854775808", "at least 0"});
	refuse("gpu_enable_nvtx_tracking=2",
		(const char *const[]){"gpu_enable_nvtx_tracking", "2", "true or false"});
	refuse("ptap_max_capture_bytes=0",
		(const char *const[]){"ptap_max_capture_bytes", "0", "at least 1048576"});
	refuse("session_id=a/b", (const char *const[]){"session_id", "a/b", "letters"});
}
END_TEST

START_TEST(names_the_nearest_key_of_unknown_ones)
{
	refuse("gpu_enable_nvtx_traking=1",
		(const char *const[]){"gpu_enable_nvtx_traking", "1", "gpu_enable_nvtx_tracking"});
	refuse("ptap_max_capture_byte=77",
		(const char *const[]){"ptap_max_capture_byte", "77", "ptap_max_capture_bytes"});
	refuse("tpu_trace_mod=x", (const char *const[]){"tpu_trace_mod", "x", "tpu_trace_mode"});
	ck_assert_str_eq(option_find_nearest("host_trcaer_level"), "host_tracer_level");
	ck_assert_str_eq(option_find_nearest("ptap_"), "ptap_offcpu");
}
END_TEST

START_TEST(refuses_texts_without_key_and_value)
{
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(profile_options_parse(&options, "host_tracer_level", &d), -EINVAL);
	ck_assert_int_eq(profile_options_parse(&options, "=1", &d), -EINVAL);
	ck_assert_int_eq(profile_options_parse(&options, "", &d), -EINVAL);
}
END_TEST

START_TEST(passes_unknown_plain_keys_through_with_a_warning)
{
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(profile_options_parse(&options, "future=17", &d), OPTION_NOTED);
	ck_assert_ptr_nonnull(strstr(d.text, "future"));
	ck_assert_int_eq(profile_options_parse(&options, "flag=true", &d), OPTION_NOTED);
	ck_assert_int_eq(profile_options_parse(&options, "word=x", &d), OPTION_NOTED);
	ck_assert_uint_eq(options.n_map, 3);
	ck_assert_ptr_null(options.map[0].option);
	ck_assert_int_eq(options.map[0].type, OPTION_INT);
	ck_assert_int_eq(options.map[0].number, 17);
	ck_assert_int_eq(options.map[1].type, OPTION_BOOL);
	ck_assert_int_eq(options.map[2].type, OPTION_STRING);
	ck_assert_str_eq(options.map[2].text, "x");
}
END_TEST

START_TEST(names_the_key_that_an_unknown_one_is_near_to)
{
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(profile_options_parse(&options, "host_trace_level=3", &d), OPTION_NOTED);
	ck_assert_str_eq(d.text, "host_trace_level: not an option of proftap; only collectors of "
				 "devices get it; the nearest is host_tracer_level");
	ck_assert_int_eq(profile_options_parse(&options, "level=3", &d), OPTION_NOTED);
	ck_assert_str_eq(
		d.text, "level: not an option of proftap; only collectors of devices get it");
}
END_TEST

START_TEST(says_that_there_is_no_tpu)
{
	struct diag d = DIAG_INIT;
	int r = profile_options_set_map(
		&options, "tpu_circular_buffer_tracing", OPTION_BOOL, 1, NULL, &d);

	ck_assert_int_eq(r, OPTION_NOTED);
	ck_assert_ptr_nonnull(strstr(d.text, "this machine has no TPU"));
	ck_assert_uint_eq(options.n_map, 1);
}
END_TEST

/* JAX's keys with their defaults, their smallest and their largest values. */
START_TEST(has_the_keys_of_jax)
{
	static const struct {
		const char *key;
		const char *otherwise; /* the value if the key is not set */
		const char *good[3];
		const char *bad[3];
	} keys[] = {
		{"gpu_max_callback_api_events", "2097152", {"-1", "0", "9223372036854775807"},
			{"-2", "x", "9223372036854775808"}},
		{"gpu_max_activity_api_events", "2097152", {"-1", "0", "9223372036854775807"},
			{"-2", "", "1.5"}},
		{"gpu_max_annotation_strings", "1048576", {"-1", "0", "9223372036854775807"},
			{"-2", "all", "1k"}},
		{"gpu_enable_nvtx_tracking", "false", {"true", "0", "off"}, {"2", "", "maybe"}},
		{"gpu_enable_cupti_activity_graph_trace", "false", {"true", "0", "on"},
			{"-1", "", "2"}},
		{"gpu_pm_sample_interval_us", "500", {"1", "500", "9223372036854775"},
			{"0", "-1", "9223372036854776"}},
		{"gpu_pm_sample_buffer_size_per_gpu_mb", "64", {"64", "65", "4096"},
			{"-1", "64MB", "1e3"}},
		{"gpu_num_chips_to_profile_per_task", "0", {"-1", "0", "2147483647"},
			{"-2", "2147483648", "two"}},
		{"device_tracer_level", "1", {"0", "1", "1"}, {"2", "-1", "on"}},
	};
	struct diag d = DIAG_INIT;
	char text[128];

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const struct option *o = option_find(keys[i].key);

		ck_assert_ptr_nonnull(o);
		ck_assert_str_eq(o->default_text, keys[i].otherwise);
		for (int j = 0; j < 3; j++) {
			snprintf(text, sizeof text, "%s=%s", keys[i].key, keys[i].good[j]);
			ck_assert_msg(profile_options_parse(&options, text, &d) >= 0, "%s", text);
			snprintf(text, sizeof text, "%s=%s", keys[i].key, keys[i].bad[j]);
			ck_assert_msg(
				profile_options_parse(&options, text, &d) == -EINVAL, "%s", text);
			ck_assert_msg(strstr(d.text, keys[i].key), "said: %s", d.text);
		}
	}
	ck_assert_str_eq(option_find("gpu_aggregated_tracing")->default_text, "false");
	ck_assert_int_eq(option_find("gpu_pm_sample_counters")->type, OPTION_STRING);
	ck_assert_ptr_null(option_find("gpu_pm_sample_counters")->default_text);
}
END_TEST

START_TEST(numbers_may_count_as_others)
{
	static const struct {
		const char *key;
		int64_t said;
		int64_t used;
		const char *words; /* NULL: there is no warning */
	} cases[] = {
		{"gpu_pm_sample_buffer_size_per_gpu_mb", 0, 64,
			"0 counts as 64: the range is 64 to 4096 MB"},
		{"gpu_pm_sample_buffer_size_per_gpu_mb", 64, 64, NULL},
		{"gpu_pm_sample_buffer_size_per_gpu_mb", 4097, 4096,
			"4097 counts as 4096: the range is 64 to 4096 MB"},
		{"ptap_gpu_usage_interval_ms", 0, 0, NULL},
		{"gpu_pm_sample_interval_us", INT64_C(86400000001), INT64_C(86400000000),
			"86400000001 counts as 86400000000: the range is 1 to 86400000000 us"},
		{"ptap_gpu_usage_interval_ms", 9, 10, "9 counts as 10: the range is 10 to 100 ms"},
		{"ptap_gpu_usage_interval_ms", 100, 100, NULL},
		{"ptap_usage_interval_ms", 1, 10, "1 counts as 10: the range is 10 to 60000 ms"},
		{"ptap_usage_interval_ms", 0, 0, NULL},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct diag d = DIAG_INIT;
		int r = profile_options_set_map(
			&options, cases[i].key, OPTION_INT, cases[i].said, NULL, &d);

		ck_assert_int_eq(r, cases[i].words ? OPTION_NOTED : 0);
		ck_assert_int_eq(
			profile_options_get_number(&options, cases[i].key, -1), cases[i].used);
		if (cases[i].words)
			ck_assert_ptr_nonnull(strstr(d.text, cases[i].words));
	}
	profile_options_deinit(&options);
	refuse("ptap_gpu_usage_interval_ms=101",
		(const char *const[]){"ptap_gpu_usage_interval_ms", "101", "0 to 100 ms"});
}
END_TEST

START_TEST(warns_of_options_without_effect)
{
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(profile_options_parse(&options, "gpu_dump_graph_node_mapping=true", &d),
		OPTION_NOTED);
	ck_assert_ptr_nonnull(strstr(d.text, "gpu_dump_graph_node_mapping: without effect: "));
	ck_assert_int_eq(
		profile_options_parse(&options, "gpu_aggregated_tracing=1", &d), OPTION_NOTED);
	ck_assert_ptr_nonnull(strstr(d.text, "gpu_aggregated_tracing: ignored: "));
	ck_assert_int_eq(profile_options_parse(&options, "gpu_aggregated_tracing=0", &d), 0);
	ck_assert_int_eq(
		profile_options_parse(&options, "gpu_enable_nvtx_tracking=1", &d), OPTION_NOTED);
	ck_assert_ptr_nonnull(strstr(d.text, "without effect: under proftap run, NVTX ranges"));
}
END_TEST

START_TEST(words_are_of_a_list)
{
	ck_assert_int_eq(profile_options_parse(&options, "ptap_cuda_detach=none", NULL), 0);
	ck_assert_int_eq(profile_options_parse(&options, "ptap_cuda_detach=finalize", NULL), 0);
	ck_assert_int_eq(profile_options_parse(&options, "ptap_cuda_detach=unsubscribe", NULL), 0);
	ck_assert_str_eq(profile_options_get_text(&options, "ptap_cuda_detach"), "unsubscribe");
	profile_options_deinit(&options);
	ck_assert_int_eq(profile_options_parse(&options, "tpu_trace_mode=TRACE_ONLY_XLA", NULL),
		OPTION_NOTED);
	profile_options_deinit(&options);
	refuse("tpu_trace_mode=NONSENSE",
		(const char *const[]){"tpu_trace_mode", "\"NONSENSE\"", "TRACE_ONLY_HOST, "});
	refuse("ptap_cuda_detach=finalise",
		(const char *const[]){
			"ptap_cuda_detach", "\"finalise\"", "none, unsubscribe or finalize"});
	refuse("ptap_cuda_detach=", (const char *const[]){"ptap_cuda_detach", "\"\"", "none, "});
	refuse("ptap_cuda_buffer_mb=0", (const char *const[]){"ptap_cuda_buffer_mb", "0", "1 to"});
}
END_TEST

/* Leaves one letter out of each key with a reserved prefix. The message must name the key. */
START_TEST(names_each_key_that_is_misspelled)
{
	for (size_t i = 0; i < n_options; i++) {
		const char *key = options_table[i].key;
		size_t n = strlen(key);
		struct diag d = DIAG_INIT;
		char text[80];

		if (!option_is_reserved(key))
			continue;
		snprintf(text, sizeof text, "%.*s%s=1", (int)n - 3, key, key + n - 2);
		ck_assert_msg(profile_options_parse(&options, text, &d) == -EINVAL, "%s", text);
		ck_assert_msg(strstr(d.text, key), "%s: said: %s", text, d.text);
	}
	ck_assert_uint_eq(options.n_map, 0);
}
END_TEST

START_TEST(takes_wire_values_of_the_right_type_only)
{
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(profile_options_set_map(
				 &options, "gpu_pm_sample_interval_us", OPTION_INT, 100, NULL, &d),
		0);
	ck_assert_int_eq(
		profile_options_set_map(&options, "override_hostname", OPTION_INT, 5, NULL, &d),
		-EINVAL);
	ck_assert_int_eq(profile_options_set_map(&options, "gpu_pm_sample_interval_us",
				 OPTION_STRING, 0, "often", &d),
		-EINVAL);
	ck_assert_str_eq(d.text, "gpu_pm_sample_interval_us: wrong type of \"often\": "
				 "must be a value of type int64, not string");
	ck_assert_int_eq(profile_options_set_map(
				 &options, "gpu_enable_nvtx_tracking", OPTION_INT, 1, NULL, &d),
		-EINVAL);
	ck_assert_int_eq(profile_options_set_map(
				 &options, "ptap_usage_interval_ms", OPTION_BOOL, 1, NULL, &d),
		-EINVAL);
	ck_assert_int_eq(
		profile_options_set_map(&options, "gpu_nonsense", OPTION_BOOL, 1, NULL, &d),
		-EINVAL);
	ck_assert_uint_eq(options.n_map, 1);
	ck_assert_int_eq(options.map[0].number, 100);
}
END_TEST

/* A server of JAX may support options that ours ignore, so the client does not warn of them. */
START_TEST(other_servers_answer_for_themselves)
{
	ck_assert(option_is_for_other_servers("gpu_enable_nvtx_tracking"));
	ck_assert(option_is_for_other_servers("tpu_trace_mode"));
	ck_assert(option_is_for_other_servers("tracemark_upper"));
	ck_assert(option_is_for_other_servers("enable_continuous_profiling"));
	ck_assert(!option_is_for_other_servers("gpu_enable_nvtx"));
	ck_assert(!option_is_for_other_servers("gpu_pm_sample_interval_us"));
	ck_assert(!option_is_for_other_servers("ptap_target"));
}
END_TEST

START_TEST(has_every_key_once)
{
	for (size_t i = 0; i < n_options; i++)
		ck_assert_ptr_eq(option_find(options_table[i].key), &options_table[i]);
	ck_assert_ptr_null(option_find("host"));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(begins_with_the_defaults),
	UNIT_TEST(sets_every_field),
	UNIT_TEST(a_recorder_has_few_options),
	UNIT_TEST(triggers_have_a_form),
	UNIT_TEST(triggers_are_read),
	UNIT_TEST(a_program_writes_a_recorders_options),
	UNIT_TEST(help_is_of_one_use),
	UNIT_TEST(keeps_map_values_with_their_types),
	UNIT_TEST(lets_the_last_value_win),
	UNIT_TEST(names_key_value_and_range_of_bad_values),
	UNIT_TEST(names_the_nearest_key_of_unknown_ones),
	UNIT_TEST(refuses_texts_without_key_and_value),
	UNIT_TEST(passes_unknown_plain_keys_through_with_a_warning),
	UNIT_TEST(names_the_key_that_an_unknown_one_is_near_to),
	UNIT_TEST(says_that_there_is_no_tpu),
	UNIT_TEST(has_the_keys_of_jax),
	UNIT_TEST(numbers_may_count_as_others),
	UNIT_TEST(warns_of_options_without_effect),
	UNIT_TEST(words_are_of_a_list),
	UNIT_TEST(names_each_key_that_is_misspelled),
	UNIT_TEST(takes_wire_values_of_the_right_type_only),
	UNIT_TEST(other_servers_answer_for_themselves),
	UNIT_TEST(has_every_key_once),
	{NULL},
};

UNIT_MAIN("options", .set_up = setup, .tear_down = teardown, .tests = tests)
