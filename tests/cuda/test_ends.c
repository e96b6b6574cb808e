/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests unusual ends: CUPTI ends itself, the program ends, a flush does not return, a fork. CUPTI
 * is a fake.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/cuda/host.h"
#include "tests/unit/unit.h"

START_TEST(cupti_ends_itself)
{
	struct fake_record kernel = host_kernel("k");

	host_begin();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host.fake->die(999, "a context is lost");
	ck_assert_int_eq(host_poll(), -EIO);
	ck_assert_ptr_nonnull(strstr(host.why, "CUPTI has ended itself"));
	ck_assert_ptr_nonnull(strstr(host.why, "a context is lost"));
	host.fake->refuse("cuptiActivityFlushAll", 999, 1);
	host_end();
	ck_assert_int_eq(host.fake->count("cuptiActivityFlushAll"), 0);
	ck_assert_int_eq(host.fake->count("cuptiUnsubscribe"), 0);
	/* The next capture begins anew. */
	host.fake->refuse("cuptiActivityFlushAll", 0, 0);
	host_begin();
	host_end();
}
END_TEST

START_TEST(an_old_version_does_not_say_that_it_ended)
{
	host.fake->set(FAKE_VERSION, 18);
	host_begin();
	host.fake->die(999, "unheard");
	ck_assert_int_eq(host_poll(), 0);
	host_end();
}
END_TEST

static _Atomic int is_back;

static void *stop_and_say(void *unused)
{
	host_stop();
	is_back = 1;
	return unused;
}

/* The program must go on during the flush. (The server waits two seconds for the collector.) */
START_TEST(a_flush_that_hangs_does_not_block_the_program)
{
	struct fake_record kernel = host_kernel("k");
	pthread_t collector;

	host.fake->set(FAKE_FLUSH_HANGS, 1);
	host_begin();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	ck_assert_int_eq(pthread_create(&collector, NULL, stop_and_say, NULL), 0);
	while (!host.fake->count("cuptiActivityFlushAll"))
		usleep(1000);
	for (int i = 0; i < 100; i++)
		host.fake->call("cuLaunchKernel", &kernel, 1);
	ck_assert(!is_back);
	host.fake->set(FAKE_FLUSH_HANGS, 0);
	host.fake->release();
	pthread_join(collector, NULL);
	host_drain();
	host_close();
	ck_assert_uint_ge(host_count(PTAP_DEVICE_KERNEL), 1);
}
END_TEST

static void *poll_until_over(void *unused)
{
	while (host.fake->is_subscribed() && host_poll() == 0)
		usleep(1000);
	return unused;
}

/*
 * Runs in its own process. Its exit status is 0 if, after the collector's exit handler, the last
 * record was handed on and CUPTI is not subscribed (look_after_exit()).
 */
static int exit_in_the_middle(void)
{
	struct fake_record kernel = host_kernel("k");
	pthread_t collector;

	host_begin();
	if (pthread_create(&collector, NULL, poll_until_over, NULL))
		_exit(9);
	pthread_detach(collector);
	host.fake->call("cuLaunchKernel", &kernel, 1);
	exit(0);
}

static void look_after_exit(void)
{
	if (host.fake->is_subscribed() || host_count(PTAP_DEVICE_KERNEL) != 1)
		_exit(8);
	_exit(0);
}

START_TEST(a_program_that_exits_hands_its_last_records_on)
{
	int status;
	pid_t child = fork();

	if (!child) {
		/* Registered before the collector's handler, so it runs after that. */
		atexit(look_after_exit);
		host_be_forked();
		exit_in_the_middle();
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(the_clock_is_set_in_the_middle)
{
	struct fake_record kernel = host_kernel("k");
	int64_t moved;

	host_begin();
	host.fake->set(FAKE_CLOCK_OFFSET_NS, 3600000000000);
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host_end();
	/* The anchors show the difference, so a reader can see that the clock was set. */
	moved = (int64_t)(host_get(PTAP_DEVICE_ANCHOR, 1)->start_ns -
			  host_get(PTAP_DEVICE_ANCHOR, 0)->start_ns) -
		(int64_t)(host_get(PTAP_DEVICE_ANCHOR, 1)->end_ns -
			  host_get(PTAP_DEVICE_ANCHOR, 0)->end_ns);
	ck_assert_int_gt(moved, 3599000000000);
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(cupti_ends_itself),
	UNIT_TEST(an_old_version_does_not_say_that_it_ended),
	UNIT_TEST(a_flush_that_hangs_does_not_block_the_program),
	UNIT_TEST(a_program_that_exits_hands_its_last_records_on),
	UNIT_TEST(the_clock_is_set_in_the_middle),
	{NULL},
};

UNIT_MAIN("ends", .set_up = host_set_up, .tear_down = host_tear_down, .tests = tests)
