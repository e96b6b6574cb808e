/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests children that are forked while their parent is recorded, or between its captures. CUPTI is
 * a fake.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/cuda/host.h"
#include "tests/unit/unit.h"

static bool is_child;

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>

/*
 * Turns the leak check off in children: they do not have the threads that would free what their
 * parents have allocated.
 */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void)
{
	return is_child;
}
#endif

/*
 * The fakes end the child with an error if it calls CUPTI. It ends by exit(), whose handlers must
 * hand nothing on, either.
 */
static void be_a_child(void)
{
	uint32_t n_calls = host.n_calls;

	is_child = true;
	host.fake->begin_call("cuLaunchKernel", NULL);
	host.fake->end_call();
	if (host_probe() != -EAGAIN || host_poll() || host_stop() || host_drain() ||
		host_count(PTAP_DEVICE_KERNEL) || host.n_calls != n_calls)
		_exit(7);
	host_close();
	exit(0);
}

START_TEST(a_child_has_nothing_of_its_parents_capture)
{
	struct fake_record kernel = host_kernel("k");

	host_set_option("gpu_pm_sample_counters=sm__a");
	host_begin();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host_check_child(be_a_child);
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 2);
}
END_TEST

static void be_a_child_with_cuda(void)
{
	struct fake_record kernel = host_kernel("k");

	host_be_forked();
	host_begin();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host_end();
	_exit(host_count(PTAP_DEVICE_KERNEL) == 1 && host.n_calls == 1 ? 0 : 7);
}

START_TEST(a_child_that_begins_with_cuda_itself_is_recorded)
{
	host_set_option("ptap_cuda_buffer_mb=1");
	host_begin();
	if (_i)
		host_check_child(be_a_child_with_cuda);
	host_end();
	host_check_child(be_a_child_with_cuda);
}
END_TEST

static void fail_to_begin(void)
{
	host_be_forked();
	host.fake->refuse("cuptiActivityRegisterCallbacks", 7, 1);
	if (host_open() || !host_arm())
		_exit(7);
	host_close();
	_exit(host.fake->count("cuptiPmSamplingStop") || host.fake->count("cuptiPmSamplingDisable")
			? 8
			: 0);
}

START_TEST(a_child_does_not_end_its_parents_counters)
{
	host_set_option("gpu_pm_sample_counters=sm__a");
	host_begin();
	host_check_child(fail_to_begin);
	host_end();
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_child_has_nothing_of_its_parents_capture),
	UNIT_LOOP(a_child_that_begins_with_cuda_itself_is_recorded, 2),
	UNIT_TEST(a_child_does_not_end_its_parents_counters),
	{NULL},
};

UNIT_MAIN("fork", .set_up = host_set_up, .tear_down = host_tear_down, .tests = tests)
