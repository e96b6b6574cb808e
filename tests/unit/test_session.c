/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that one capture runs at a time, with calls from several threads. */
#include "daemon/serve/session/session.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/calls/continuous_session.h"
#include "daemon/serve/session/session_request.h"
#include "daemon/target/family.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

static struct family family;
static struct session session;
static char call; /* stands for a call that nobody answers */

static void setup(void)
{
	fixture_open();
	family_init(&family, &fixture.target);
	session_init(&session, &family, NULL, NULL);
}

static void teardown(void)
{
	if (session.request) {
		session_request_deinit(session.request);
		free(session.request);
	}
	family_deinit(&family);
	fixture_close();
}

static int take(void)
{
	struct session_request *request = calloc(1, sizeof *request);

	ck_assert_ptr_nonnull(request);
	profile_options_init(&request->capture.options);
	request->call = (struct rpc_call *)&call;
	return session_take(&session, request);
}

/* All calls come in on one thread, which must continue while the worker writes a file. */
START_TEST(does_not_wait_for_a_worker_at_work)
{
	ck_assert_int_eq(take(), 0);
	ck_assert_int_eq(atomic_load(&session.is_pending), 1);
	ck_assert_int_eq(take(), SESSION_BUSY);
}
END_TEST

static void *sleep_as_worker(void *result)
{
	/* The test's call comes after the worker has looked for calls. */
	while (!atomic_load(&session.is_pending))
		sched_yield();
	target_wait(&fixture.target, INT64_MAX);
	atomic_store((_Atomic int *)result, atomic_exchange(&session.is_pending, 0));
	return NULL;
}

START_TEST(wakes_a_worker_that_was_about_to_sleep)
{
	_Atomic int found = 0;
	pthread_t worker;

	atomic_store(&fixture.arena->guest, 1);
	atomic_store(&session.is_waiting, 1);
	ck_assert_int_eq(pthread_create(&worker, NULL, sleep_as_worker, &found), 0);
	ck_assert_int_eq(take(), 0);
	pthread_join(worker, NULL);
	ck_assert_int_eq(found, 1);
}
END_TEST

START_TEST(a_client_that_goes_ends_its_own_capture_only)
{
	static char other;

	ck_assert_int_eq(take(), 0);
	session_cancel(&session, (struct rpc_call *)&other);
	ck_assert_int_eq(atomic_load(&session.cancel), 0);
	session_cancel(&session, (struct rpc_call *)&call);
	ck_assert_int_eq(atomic_load(&session.cancel), 1);
}
END_TEST

static int n_told;

static void count_told(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	(void)request, (void)result, (void)d;
	ck_assert_int_eq(r, CAPTURE_NO_TARGET);
	n_told++;
}

static struct session_request *new_counted(void)
{
	struct session_request *request = calloc(1, sizeof *request);

	ck_assert_ptr_nonnull(request);
	profile_options_init(&request->capture.options);
	request->deliver = count_told;
	return request;
}

/* The program ends before the worker has seen any of the requests. */
START_TEST(answers_all_requests_at_the_programs_end)
{
	n_told = 0;
	ck_assert_int_eq(session_start_continuous(&session, new_counted()), 0);
	ck_assert_int_eq(session_snapshot(&session, NULL, new_counted()), 0);
	ck_assert_int_eq(session_stop(&session, NULL, new_counted()), 0);
	session_close(&session);
	ck_assert_int_eq(n_told, 3);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(does_not_wait_for_a_worker_at_work),
	UNIT_TEST(wakes_a_worker_that_was_about_to_sleep),
	UNIT_TEST(a_client_that_goes_ends_its_own_capture_only),
	UNIT_TEST(answers_all_requests_at_the_programs_end),
	{NULL},
};

UNIT_MAIN("session", .set_up = setup, .tear_down = teardown, .tests = tests)
