/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests what a capture leaves behind in CUPTI and in the program: little, nothing on request, or
 * only its subscription. CUPTI is a fake.
 */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cuda/host.h"
#include "tests/unit/unit.h"

static _Atomic int is_closed;

START_TEST(finalizing_is_on_request_only)
{
	host_set_option("ptap_cuda_detach=finalize");
	host_begin();
	host_end();
	ck_assert_int_eq(host.fake->count("cuptiFinalize"), 1);
	ck_assert(host.fake->is_before("cuptiActivityFlushAll", "cuptiFinalize"));
	host_begin();
	host_end();
}
END_TEST

static void *end_and_say(void *unused)
{
	host_end();
	is_closed = 1;
	return unused;
}

/* CUPTI may wait for the program's next call. The trace is handed on before that. */
START_TEST(the_trace_is_complete_before_finalizing_ends)
{
	struct fake_record kernel = host_kernel("k");
	pthread_t collector;

	host_set_option("ptap_cuda_detach=finalize");
	host_begin();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host.fake->set(FAKE_FINALIZE_WAITS, 1);
	ck_assert_int_eq(pthread_create(&collector, NULL, end_and_say, NULL), 0);
	while (!host.fake->count("cuptiFinalize"))
		usleep(1000);
	ck_assert(!is_closed);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	while (!is_closed)
		host.fake->call("cuLaunchKernel", &kernel, 1);
	pthread_join(collector, NULL);
	host.fake->set(FAKE_FINALIZE_WAITS, 0);
	host_forget();
	host_begin();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
}
END_TEST

/* Runs in its own process: exit() waits a second for the finalization, not for ever. */
static void exit_while_it_finalizes(void)
{
	pthread_t collector;

	host_be_forked();
	host_set_option("ptap_cuda_detach=finalize");
	host_begin();
	host.fake->set(FAKE_FINALIZE_WAITS, 1);
	if (pthread_create(&collector, NULL, end_and_say, NULL))
		_exit(9);
	while (!host.fake->count("cuptiFinalize"))
		usleep(1000);
	exit(0);
}

START_TEST(a_program_exits_while_it_finalizes)
{
	host_check_child(exit_while_it_finalizes);
}
END_TEST

START_TEST(finalizing_is_not_for_versions_that_crash)
{
	host.fake->set(FAKE_VERSION, 23);
	host_set_option("ptap_cuda_detach=finalize");
	host_begin();
	host_end();
	ck_assert_int_eq(host.fake->count("cuptiFinalize"), 0);
	ck_assert_ptr_nonnull(strstr(host.warnings, "ptap_cuda_detach=finalize: the CUPTI of"));
}
END_TEST

START_TEST(cupti_stays_subscribed_on_request)
{
	struct fake_record kernel = host_kernel("k");

	host_set_option("ptap_cuda_detach=none");
	host_begin();
	host_end();
	ck_assert(host.fake->is_subscribed());
	ck_assert_int_eq(host.fake->count_callbacks(), 0);
	host_set_option("ptap_cuda_detach=unsubscribe");
	host_begin();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	ck_assert(!host.fake->is_subscribed());
}
END_TEST

START_TEST(versions_that_hang_go_on_recording_kernels)
{
	struct fake_record kernel = host_kernel("k");

	host.fake->set(FAKE_VERSION, 130000);
	host_begin();
	host_end();
	ck_assert(host.fake->is_enabled(10));
	/* These records went into buffers that nobody reads; no buffer is lost. */
	for (int i = 0; i < 20000; i++)
		host.fake->record(&kernel);
	host.fake->give_buffers_back();
	host_forget();
	host_begin();
	host.fake->record(&kernel);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_DROPPED), 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(finalizing_is_on_request_only),
	UNIT_TEST(the_trace_is_complete_before_finalizing_ends),
	UNIT_TEST(a_program_exits_while_it_finalizes),
	UNIT_TEST(finalizing_is_not_for_versions_that_crash),
	UNIT_TEST(cupti_stays_subscribed_on_request),
	UNIT_TEST(versions_that_hang_go_on_recording_kernels),
	{NULL},
};

UNIT_MAIN("detach", .set_up = host_set_up, .tear_down = host_tear_down, .tests = tests)
