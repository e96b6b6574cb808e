/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests contexts: those that the program creates beside those of the devices, destroyed while they
 * are recorded or waited for. CUPTI is a fake.
 */
#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cuda/host.h"
#include "tests/unit/unit.h"

/* A context that the program creates. */
#define OWN 3u

static _Atomic uint32_t awaited; /* one bit for each context */
static sem_t is_waiting;
static sem_t may_end;

static void note_and_end(uint32_t context)
{
	awaited |= 1u << context;
	host.fake->let_device_go();
}

/* Work of this context ends only when the test allows it. */
static void hold_own(uint32_t context)
{
	awaited |= 1u << context;
	if (context != OWN)
		return;
	sem_post(&is_waiting);
	sem_wait(&may_end);
}

static void hold_primary(uint32_t context)
{
	if (context == OWN)
		return;
	sem_post(&is_waiting);
	sem_wait(&may_end);
}

static void launch_in(uint32_t context)
{
	struct fake_record kernel = host_kernel("k");

	kernel.context = context;
	host.fake->call("cuLaunchKernel", &kernel, 1);
}

static void set_up(void)
{
	host_set_up();
	awaited = 0;
	sem_init(&is_waiting, 0, 0);
	sem_init(&may_end, 0, 0);
	host.fake->make_context(OWN);
}

static void tear_down(void)
{
	host.at_synchronize(NULL);
	host.fake->destroy_context(OWN);
	host_tear_down();
}

START_TEST(a_context_that_is_destroyed_leaves_its_records)
{
	if (_i)
		host_set_option("ptap_cuda_sync_at_stop=true");
	host.at_synchronize(note_and_end);
	host_begin();
	launch_in(OWN);
	launch_in(1);
	host.fake->destroy_context(OWN);
	launch_in(1);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 3);
	ck_assert_uint_eq(host.n_calls, 3);
	ck_assert_uint_eq(awaited, _i ? 1u << 1 : 0);
}
END_TEST

START_TEST(a_capture_waits_for_contexts_that_the_program_made)
{
	host_set_option("ptap_cuda_sync_at_stop=true");
	host.at_synchronize(note_and_end);
	host_begin();
	host.fake->hold_device();
	launch_in(OWN);
	host_end();
	ck_assert_uint_eq(awaited, 1u << OWN | 1u << 1);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_INCOMPLETE), 0);
	ck_assert_str_eq(host.warnings, "");
}
END_TEST

/* A capture waits only for the contexts in which work was launched during it. */
START_TEST(a_capture_waits_for_the_contexts_of_its_launches_only)
{
	host_set_option("ptap_cuda_sync_at_stop=true");
	host_begin();
	launch_in(OWN);
	host_end();
	host.at_synchronize(note_and_end);
	host_begin();
	launch_in(1);
	host_end();
	ck_assert_uint_eq(awaited, 1u << 1);
}
END_TEST

static void *stop(void *unused)
{
	host_stop_within(60000);
	return unused;
}

static _Atomic int is_destroying;

static void *destroy(void *unused)
{
	is_destroying = 1;
	host.fake->destroy_context(OWN);
	return unused;
}

/* The fake driver ends the process if the context is destroyed while it is waited for. */
START_TEST(a_context_that_is_waited_for_is_not_destroyed)
{
	pthread_t collector;
	pthread_t program;

	host_set_option("ptap_cuda_sync_at_stop=true");
	host.at_synchronize(hold_own);
	host_begin();
	launch_in(OWN);
	ck_assert_int_eq(pthread_create(&collector, NULL, stop, NULL), 0);
	sem_wait(&is_waiting);
	ck_assert_int_eq(pthread_create(&program, NULL, destroy, NULL), 0);
	while (!is_destroying)
		usleep(1000);
	/* Without a wait in destroy_context(), the context would be gone after this time. */
	usleep(20000);
	sem_post(&may_end);
	pthread_join(program, NULL);
	pthread_join(collector, NULL);
	host_drain();
	host_close();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
}
END_TEST

static void check_late(void)
{
	ck_assert_ptr_nonnull(
		strstr(host.warnings, "ptap_cuda_sync_at_stop: the devices were not done in time"));
}

START_TEST(a_kernel_that_never_ends_holds_nobody_up)
{
	host_set_option("ptap_cuda_sync_at_stop=true");
	host.at_synchronize(hold_primary);
	host_begin();
	launch_in(1);
	host.fake->hold_device();
	launch_in(1);
	ck_assert_int_eq(host_stop_within(100), 0);
	sem_wait(&is_waiting);
	check_late();
	/* Other contexts can be destroyed meanwhile. */
	host.fake->destroy_context(OWN);
	host_drain();
	host_close();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	ck_assert_uint_eq(host_lost(PTAP_DEVICE_LOSS_INCOMPLETE), 1);
	host.fake->let_device_go();
	host_forget();
	host_begin();
	launch_in(1);
	host_end();
	check_late();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	/* The next capture does not wait for that context again. */
	ck_assert_int_ne(sem_trywait(&is_waiting), 0);
	/* After the wait has ended, the next capture waits as usual. */
	host.at_synchronize(note_and_end);
	sem_post(&may_end);
	for (int i = 0; i < 1000 && !awaited; i++) {
		host_forget();
		host_begin();
		host_end();
	}
	ck_assert_uint_eq(awaited, 1u << 1);
	ck_assert_str_eq(host.warnings, "");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(a_context_that_is_destroyed_leaves_its_records, 2),
	UNIT_TEST(a_capture_waits_for_contexts_that_the_program_made),
	UNIT_TEST(a_capture_waits_for_the_contexts_of_its_launches_only),
	UNIT_TEST(a_context_that_is_waited_for_is_not_destroyed),
	UNIT_TEST(a_kernel_that_never_ends_holds_nobody_up),
	{NULL},
};

UNIT_MAIN("contexts", .set_up = set_up, .tear_down = tear_down, .tests = tests)
