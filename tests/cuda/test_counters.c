/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests hardware counters: which are sampled, what their samples become, and obstacles. CUPTI is a
 * fake.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/plugins/cuda/pm_plan.h"
#include "tests/cuda/host.h"
#include "tests/unit/unit.h"

START_TEST(samples_are_counters)
{
	const struct ptap_device_record *counter;

	host_set_option("gpu_pm_sample_counters=sm__cycles_active.avg, dramc__read_throughput.avg");
	host_set_option("gpu_num_chips_to_profile_per_task=1");
	host.fake->set(FAKE_SAMPLES, 7);
	host_begin();
	ck_assert_int_eq(host_poll(), 0);
	/* The first sample is incomplete. */
	ck_assert_uint_eq(host_count(PTAP_DEVICE_COUNTER), 6 * 2);
	counter = host_get(PTAP_DEVICE_COUNTER, 3);
	ck_assert_str_eq(host_name(counter->name), "dramc__read_throughput.avg");
	ck_assert_double_eq_tol(counter->of.counter, 2.01, 1e-9);
	ck_assert_uint_eq(counter->end_ns - counter->start_ns, 500000);
	ck_assert_uint_eq(counter->device, 0);
	host.fake->set(FAKE_SAMPLES, 9);
	host_end();
	/* The last samples before the stop are there, too. */
	ck_assert_uint_eq(host_count(PTAP_DEVICE_COUNTER), 8 * 2);
	ck_assert_str_eq(host.warnings, "");
	ck_assert(host.fake->is_before("cuptiActivityFlushAll", "cuptiPmSamplingDisable"));
}
END_TEST

START_TEST(sampling_needs_a_request)
{
	host_begin();
	host_poll();
	host_end();
	ck_assert_int_eq(host.fake->count("cuptiProfilerInitialize"), 0);
}
END_TEST

START_TEST(metrics_that_are_not_known_are_left_out)
{
	host_set_option("gpu_pm_sample_counters=sm__a,no_such_metric,sm__b");
	host.fake->set(FAKE_SAMPLES, 3);
	host_begin();
	host_poll();
	host_end();
	ck_assert_ptr_nonnull(strstr(host.warnings, "no_such_metric is left out: not known"));
	ck_assert_ptr_nonnull(host_find_name(PTAP_DEVICE_COUNTER, "sm__a"));
	ck_assert_ptr_nonnull(host_find_name(PTAP_DEVICE_COUNTER, "sm__b"));
	ck_assert_ptr_null(host_find_name(PTAP_DEVICE_COUNTER, "no_such_metric"));
}
END_TEST

START_TEST(metrics_beyond_one_pass_are_left_out)
{
	host_set_option(
		"gpu_pm_sample_counters=sm__1,sm__2,sm__3,sm__4,sm__5,sm__6,sm__7,sm__8,sm__9");
	host.fake->set(FAKE_SAMPLES, 2);
	host_begin();
	host_poll();
	host_end();
	ck_assert_ptr_nonnull(strstr(host.warnings, "sm__9 is left out: it does not fit"));
	ck_assert_ptr_nonnull(host_find_name(PTAP_DEVICE_COUNTER, "sm__8"));
	ck_assert_ptr_null(host_find_name(PTAP_DEVICE_COUNTER, "sm__9"));
}
END_TEST

START_TEST(a_list_without_a_known_counter_is_reported)
{
	host_set_option("gpu_pm_sample_counters=nothing,of,this");
	host_begin();
	host_end();
	ck_assert_ptr_nonnull(
		strstr(host.warnings, "this GPU knows none of gpu_pm_sample_counters"));
}
END_TEST

static const struct {
	const char *function;
	int result;
	const char *words;
} obstacles[] = {
	{"cuptiPmSamplingEnable", 35, "options nvidia NVreg_RestrictProfilingToAdminUsers=0"},
	{"cuptiPmSamplingGetCounterAvailability", 35, "--cap-add=SYS_ADMIN"},
	{"cuptiPmSamplingEnable", 26, "dcgmi profile --pause"},
	{"cuptiPmSamplingStart", 7, "sampling the counters of GPU 0"},
};

START_TEST(obstacle_is_reported_and_the_rest_arrives)
{
	struct fake_record kernel = host_kernel("k");

	host_set_option("gpu_pm_sample_counters=sm__a");
	host.fake->refuse(obstacles[_i].function, obstacles[_i].result, 1);
	host_begin();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	ck_assert_int_eq(host_poll(), 0);
	host_end();
	ck_assert_ptr_nonnull(strstr(host.warnings, obstacles[_i].words));
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_COUNTER), 0);
}
END_TEST

static const struct {
	const char *function;
	int result;
	int nth;
	size_t n_samples;
	const char *words;
} failures[] = {
	{"cuptiPmSamplingDecodeData", 26, 1, 0, "the counters are in use by another profiler"},
	{"cuptiPmSamplingCounterDataGetSampleInfo", 7, 3, 1, "sampling the counters of GPU 0: "},
	{"cuptiPmSamplingCounterDataImageInitialize", 999, 3, 4,
		"sampling the counters of GPU 0: "},
};

START_TEST(later_failure_is_reported_once_and_ends_sampling)
{
	int n_asked;

	host_set_option("gpu_pm_sample_counters=sm__a");
	host_set_option("gpu_num_chips_to_profile_per_task=1");
	host.fake->set(FAKE_SAMPLES, 5);
	host.fake->refuse(failures[_i].function, failures[_i].result, failures[_i].nth);
	host_begin();
	ck_assert_int_eq(host_poll(), 0);
	n_asked = host.fake->count("cuptiPmSamplingDecodeData");
	ck_assert_int_eq(host.fake->count("cuptiPmSamplingStop"), 1);
	ck_assert_int_eq(host_poll(), 0);
	host_end();
	ck_assert_int_eq(host.fake->count("cuptiPmSamplingDecodeData"), n_asked);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_COUNTER), failures[_i].n_samples);
	ck_assert_ptr_nonnull(strstr(host.warnings, failures[_i].words));
	ck_assert_ptr_eq(strchr(host.warnings, '\n'), strrchr(host.warnings, '\n'));
}
END_TEST

START_TEST(an_overflow_that_ends_sampling_is_reported)
{
	host_set_option("gpu_pm_sample_counters=sm__a");
	host_set_option("gpu_num_chips_to_profile_per_task=1");
	host.fake->set(FAKE_SAMPLING_OVERFLOWS, 1);
	host.fake->refuse("cuptiPmSamplingStart", 26, 2);
	host_begin();
	ck_assert_int_eq(host_poll(), 0);
	host_end();
	ck_assert_ptr_nonnull(strstr(host.warnings, "the counters are in use by another profiler"));
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_DROPPED), 1);
}
END_TEST

START_TEST(metrics_beyond_64_are_left_out_with_a_warning)
{
	char option[8 * 70] = "gpu_pm_sample_counters=sm__0";

	for (int i = 1; i < 66; i++)
		sprintf(option + strlen(option), ",sm__%d", i);
	host_set_option(option);
	host_begin();
	host_end();
	ck_assert_ptr_nonnull(strstr(host.warnings,
		"gpu_pm_sample_counters: the last 2 are left out: there is room for 64 metrics"));
}
END_TEST

START_TEST(a_virtual_gpu_has_no_counters)
{
	host_set_option("gpu_pm_sample_counters=sm__a");
	host.fake->set(FAKE_HAS_NO_SAMPLING, 1);
	host_begin();
	host_end();
	ck_assert_ptr_nonnull(
		strstr(host.warnings, "sampling the counters of GPU 1: not for a virtual GPU"));
}
END_TEST

START_TEST(an_old_cupti_samples_no_counters)
{
	host_set_option("gpu_pm_sample_counters=sm__a");
	host.fake->set(FAKE_VERSION, 23);
	host_begin();
	host_end();
	ck_assert_ptr_nonnull(strstr(host.warnings, "CUDA 12.6 is the first that can"));
}
END_TEST

static const uint32_t versions[] = {24, 26, 130001, 130101, 130500};

START_TEST(each_version_knows_structs_of_its_own)
{
	host_set_option("gpu_pm_sample_counters=sm__a");
	host_set_option("gpu_num_chips_to_profile_per_task=1");
	host.fake->set(FAKE_VERSION, versions[_i]);
	host.fake->set(FAKE_SAMPLES, 2);
	host_begin();
	host_poll();
	host_end();
	ck_assert_str_eq(host.warnings, "");
	ck_assert_uint_gt(host_count(PTAP_DEVICE_COUNTER), 0);
}
END_TEST

START_TEST(sampling_continues_after_a_counted_overflow)
{
	host_set_option("gpu_pm_sample_counters=sm__a");
	host_set_option("gpu_num_chips_to_profile_per_task=1");
	host.fake->set(FAKE_SAMPLES, 3);
	host.fake->set(FAKE_SAMPLING_OVERFLOWS, 1);
	host_begin();
	host_poll();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_COUNTER), 0);
	host_poll();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_COUNTER), 2);
	host_end();
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_DROPPED), 1);
	ck_assert_int_eq(host.fake->count("cuptiPmSamplingStart"), 2);
}
END_TEST

START_TEST(values_that_are_not_numbers_are_counted)
{
	host_set_option("gpu_pm_sample_counters=sm__none,sm__b");
	host_set_option("gpu_num_chips_to_profile_per_task=1");
	host.fake->set(FAKE_SAMPLES, 3);
	host_begin();
	host_poll();
	host_end();
	ck_assert_ptr_null(host_find_name(PTAP_DEVICE_COUNTER, "sm__none"));
	ck_assert_uint_eq(host_count(PTAP_DEVICE_COUNTER), 2);
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_INVALID), 2);
}
END_TEST

START_TEST(cupti_ends_itself_while_it_samples)
{
	host_set_option("gpu_pm_sample_counters=sm__a");
	host_begin();
	host.fake->die(999, "gone");
	ck_assert_int_lt(host_poll(), 0);
	host_end();
	ck_assert_int_eq(host.fake->count("cuptiPmSamplingDisable"), 0);
}
END_TEST

START_TEST(a_list_is_read_with_its_blanks)
{
	struct pm_list list;

	ck_assert_uint_eq(pm_list_read(&list, " a , b,, \t,c "), 0);
	ck_assert_uint_eq(list.n, 3);
	ck_assert_str_eq(list.names[0], "a");
	ck_assert_str_eq(list.names[1], "b");
	ck_assert_str_eq(list.names[2], "c");
	pm_list_remove(&list, 1);
	ck_assert_uint_eq(list.n, 2);
	ck_assert_str_eq(list.names[1], "c");
	ck_assert_uint_eq(pm_list_read(&list, "default"), 0);
	ck_assert_uint_eq(list.n, 11);
	ck_assert_uint_eq(pm_list_read(&list, " ,"), 0);
	ck_assert_uint_eq(list.n, 0);
}
END_TEST

START_TEST(names_cut_by_the_size_of_the_list_are_left_out)
{
	char option[PM_LIST_BYTES + 100];
	struct pm_list list;

	memset(option, 'a', sizeof option);
	memcpy(option + PM_LIST_BYTES - 10, ",bbbbbbbbbbbb,c", sizeof ",bbbbbbbbbbbb,c");
	ck_assert_uint_eq(pm_list_read(&list, option), 1);
	ck_assert_uint_eq(list.n, 2);
	ck_assert_uint_eq(strlen(list.names[0]), PM_LIST_BYTES - 10);
	ck_assert_str_eq(list.names[1], "c");
	option[PM_LIST_BYTES - 10] = 'a';
	ck_assert_uint_eq(pm_list_read(&list, option), 1);
	ck_assert_uint_eq(list.n, 1);
	ck_assert_str_eq(list.names[0], "c");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(samples_are_counters),
	UNIT_TEST(sampling_needs_a_request),
	UNIT_TEST(metrics_that_are_not_known_are_left_out),
	UNIT_TEST(metrics_beyond_one_pass_are_left_out),
	UNIT_TEST(a_list_without_a_known_counter_is_reported),
	UNIT_LOOP(
		obstacle_is_reported_and_the_rest_arrives, sizeof obstacles / sizeof obstacles[0]),
	UNIT_LOOP(later_failure_is_reported_once_and_ends_sampling,
		sizeof failures / sizeof failures[0]),
	UNIT_TEST(an_overflow_that_ends_sampling_is_reported),
	UNIT_TEST(metrics_beyond_64_are_left_out_with_a_warning),
	UNIT_TEST(a_virtual_gpu_has_no_counters),
	UNIT_TEST(an_old_cupti_samples_no_counters),
	UNIT_LOOP(each_version_knows_structs_of_its_own, sizeof versions / sizeof versions[0]),
	UNIT_TEST(sampling_continues_after_a_counted_overflow),
	UNIT_TEST(values_that_are_not_numbers_are_counted),
	UNIT_TEST(cupti_ends_itself_while_it_samples),
	UNIT_TEST(a_list_is_read_with_its_blanks),
	UNIT_TEST(names_cut_by_the_size_of_the_list_are_left_out),
	{NULL},
};

UNIT_MAIN("counters", .set_up = host_set_up, .tear_down = host_tear_down, .tests = tests)
