/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests obstacles to the start of a capture: each is explained with a remedy, and does no harm.
 * CUPTI is a fake.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/plugins/cuda/driver.h"
#include "tests/cuda/host.h"
#include "tests/cuda/libraries.h"
#include "tests/unit/unit.h"

START_TEST(a_program_that_has_not_begun_is_asked_again)
{
	host.set_driver(FAKE_DRIVER_IS_INITIALIZED, 0);
	ck_assert_int_eq(host_probe(), -EAGAIN);
	host_check_why("the program has not initialised CUDA");
	host.set_driver(FAKE_DRIVER_IS_INITIALIZED, 1);
	ck_assert_int_eq(host_probe(), 0);
	/* No other thread may initialise the driver. */
	host.set_driver(FAKE_DRIVER_IS_INITIALIZED, 0);
	ck_assert_int_eq(host_probe(), -EAGAIN);
	ck_assert_int_eq(host.fake->count("cuptiGetVersion"), 0);
}
END_TEST

static const struct {
	int result;
	const char *words;
} answers_of_the_driver[] = {
	{34, "libcuda.so.1 is the toolkit's stub"},
	{100, "CUDA sees no device"},
	{803, "of different versions"},
	{804, "compatibility package"},
	{46, "error 46"},
};

START_TEST(a_driver_that_does_not_work_is_explained)
{
	host.set_driver(FAKE_DRIVER_RESULT, answers_of_the_driver[_i].result);
	ck_assert_int_eq(host_probe(), -ENODEV);
	host_check_why(answers_of_the_driver[_i].words);
}
END_TEST

START_TEST(a_library_that_is_named_must_be_there)
{
	setenv("PROFTAP_CUPTI", "/no/such/libcupti.so.13", 1);
	ck_assert_int_eq(host_open(), -ENOENT);
	host_check_why(
		"PROFTAP_CUPTI=/no/such/libcupti.so.13: there is no such file; start the program without it");
	setenv("PROFTAP_CUPTI", "libno_such_cupti.so", 1);
	ck_assert_int_eq(host_open(), -ENOENT);
	host_check_why(
		"PROFTAP_CUPTI=libno_such_cupti.so: the linker knows no such library; start");
}
END_TEST

START_TEST(a_file_that_is_no_library_is_named_with_the_reason)
{
	setenv("PROFTAP_CUPTI", "/etc/passwd", 1);
	ck_assert_int_eq(host_open(), -ENOENT);
	host_check_why("PROFTAP_CUPTI=/etc/passwd cannot be opened: ");
	host_check_why("invalid ELF header");
}
END_TEST

START_TEST(a_library_of_another_kind_is_refused)
{
	setenv("PROFTAP_CUPTI", "libc.so.6", 1);
	ck_assert_int_eq(host_open(), -ENOSYS);
	host_check_why(
		"libc.so.6 has no cuptiGetVersion: it is not the CUPTI of CUDA 11.8 or later");
}
END_TEST

START_TEST(a_version_before_11_8_is_too_old)
{
	host.fake->set(FAKE_VERSION, 17);
	ck_assert_int_eq(host_open(), -ENOSYS);
	host_check_why("is of CUDA 11.6: too old; CUDA 11.8 is the first");
}
END_TEST

START_TEST(missing_cupti_version_is_reported)
{
	host.fake->refuse("cuptiGetVersion", 999, 1);
	ck_assert_int_eq(host_open(), -EIO);
	host_check_why("does not tell its version");
}
END_TEST

START_TEST(another_profiler_is_named_and_left_alone)
{
	host.fake->take_slot("Kineto");
	ck_assert_int_eq(host_open(), 0);
	ck_assert_int_eq(host_arm(), -EBUSY);
	host_check_why("Kineto records the GPU in this process already");
	host_close();
	ck_assert_int_eq(host.fake->count("cuptiActivityRegisterCallbacks"), 0);
	host.fake->take_slot(NULL);
	host_begin();
	host_end();
}
END_TEST

START_TEST(a_profiler_without_a_name_is_reported)
{
	host.fake->refuse("cuptiSubscribe_v2", 39, 1);
	ck_assert_int_eq(host_open(), 0);
	ck_assert_int_eq(host_arm(), -EBUSY);
	host_check_why("another profiler");
	host_check_why("torch.profiler holds CUPTI until the program ends");
	host_close();
}
END_TEST

static const struct {
	int result;
	int code;
	const char *words;
} answers_of_cupti[] = {
	{15, -ENOTSUP, "the driver is too old for this CUPTI: it is of CUDA 13.0"},
	{26, -EBUSY, "dcgmi profile --pause"},
	{33, -ENOTSUP, "not for a virtual GPU"},
	{35, -EPERM, "options nvidia NVreg_RestrictProfilingToAdminUsers=0"},
	{35, -EPERM, "--cap-add=SYS_ADMIN"},
	{40, -EPERM, "the hypervisor forbids it"},
	{41, -ENOTSUP, "confidential computing"},
	{42, -ENOTSUP, "not for a mining GPU"},
	{43, -ENOTSUP, "nvidia-smi -mig 0"},
	{44, -ENOTSUP, "not with SLI"},
	{45, -ENOTSUP, "not in this version of WSL"},
	{999, -EIO, "CUPTI_ERROR_UNKNOWN (999)"},
};

START_TEST(refusal_of_cupti_is_explained)
{
	host.fake->refuse("cuptiSubscribe_v2", answers_of_cupti[_i].result, 1);
	ck_assert_int_eq(host_open(), 0);
	ck_assert_int_eq(host_arm(), answers_of_cupti[_i].code);
	host_check_why(answers_of_cupti[_i].words);
	host_close();
	ck_assert(!host.fake->is_subscribed());
}
END_TEST

START_TEST(a_failure_in_the_middle_is_undone)
{
	host.fake->refuse("cuptiActivityRegisterCallbacks", 7, 1);
	ck_assert_int_eq(host_open(), 0);
	ck_assert_int_lt(host_arm(), 0);
	host_close();
	ck_assert(!host.fake->is_subscribed());
	ck_assert_uint_eq(host.fake->get_attribute(2), 250);
	host.fake->refuse("cuptiActivityRegisterCallbacks", 0, 0);
	host.fake->refuse("cuptiActivityEnable", 35, 1);
	ck_assert_int_eq(host_open(), 0);
	ck_assert_int_eq(host_arm(), 0);
	ck_assert_int_eq(host_start(), -EPERM);
	host_check_why("recording kernels: the driver lets only administrators do it");
	host_close();
	ck_assert(!host.fake->is_subscribed());
	ck_assert_int_eq(host.fake->count_callbacks(), 0);
	ck_assert(!host.fake->is_enabled(37));
}
END_TEST

/* Kinds are enabled for the whole process, so the records of another user of CUPTI come, too. */
START_TEST(failed_start_discards_records_of_other_users)
{
	struct fake_record work[] = {host_kernel("theirs"), {.kind = 9, .context = 1}};
	void *symbol =
		libraries_find(libraries_open(getenv("PROFTAP_CUPTI")), "cuptiActivityEnable");
	int (*enable)(uint32_t kind);

	memcpy(&enable, &symbol, sizeof symbol);
	ck_assert_int_eq(enable(10), 0);
	ck_assert_int_eq(enable(9), 0);
	ck_assert_int_eq(host_open(), 0);
	ck_assert_int_eq(host_arm(), 0);
	host.fake->call("cuLaunchKernel", work, 2);
	host.fake->refuse("cuptiGetTimestamp", 7, 1);
	ck_assert_int_lt(host_start(), 0);
	host_check_why("CUPTI's clock cannot be read");
	host_close();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 0);
	ck_assert(!host.fake->is_subscribed());
}
END_TEST

START_TEST(a_kind_that_is_refused_is_a_warning)
{
	struct fake_record kernel = host_kernel("k");

	/*
	 * The kinds in this order: kernels, copies, copies between devices, then memory that is
	 * set.
	 */
	host.fake->refuse("cuptiActivityEnable", 14, 4);
	host_begin();
	host.fake->refuse("cuptiActivityEnable", 0, 0);
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host_end();
	ck_assert_ptr_nonnull(
		strstr(host.warnings, "recording memory that is filled: CUPTI cannot"));
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_program_that_has_not_begun_is_asked_again),
	UNIT_LOOP(a_driver_that_does_not_work_is_explained,
		sizeof answers_of_the_driver / sizeof answers_of_the_driver[0]),
	UNIT_TEST(a_library_that_is_named_must_be_there),
	UNIT_TEST(a_file_that_is_no_library_is_named_with_the_reason),
	UNIT_TEST(a_library_of_another_kind_is_refused),
	UNIT_TEST(a_version_before_11_8_is_too_old),
	UNIT_TEST(missing_cupti_version_is_reported),
	UNIT_TEST(another_profiler_is_named_and_left_alone),
	UNIT_TEST(a_profiler_without_a_name_is_reported),
	UNIT_LOOP(refusal_of_cupti_is_explained,
		sizeof answers_of_cupti / sizeof answers_of_cupti[0]),
	UNIT_TEST(a_failure_in_the_middle_is_undone),
	UNIT_TEST(failed_start_discards_records_of_other_users),
	UNIT_TEST(a_kind_that_is_refused_is_a_warning),
	{NULL},
};

UNIT_MAIN("begin", .set_up = host_set_up, .tear_down = host_tear_down, .tests = tests)
