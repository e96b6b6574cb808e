/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests when the worker gives the rings' memory back. Here the worker's sleep ends the program, and
 * no program answers orders: linked with -Wl,--wrap of orders_begin, orders_end, rights_check,
 * target_await_end, target_hold, target_rehearse_end and target_wait.
 */
#include "daemon/worker.h"

#include <check.h>
#include <linux/futex.h>
#include <stdlib.h>

#include "base/clock.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/pipeline/recording/orders.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"
#include "daemon/target/family.h"
#include "daemon/target/rights.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

#define KEPT_NS (10 * NS_PER_S)

static struct family family;
static struct session session;
static int64_t woken_at_ns; /* the time for which the worker sleeps at most; 0: it has not slept */
static int n_begun;
static int n_ended;

int __wrap_orders_begin(struct recording *r, enum arena_op op, struct diag *d);
int __wrap_orders_begin(struct recording *r, enum arena_op op, struct diag *d)
{
	(void)r, (void)op, (void)d;
	return 0;
}

int __wrap_orders_end(struct recording *r);
int __wrap_orders_end(struct recording *r)
{
	(void)r;
	return 0;
}

int __wrap_rights_check(const char *root, pid_t pid, struct diag *d);
int __wrap_rights_check(const char *root, pid_t pid, struct diag *d)
{
	(void)root, (void)pid, (void)d;
	return 0;
}

/* The arena of this test has no process, and no page of the server in front of it. */
void __wrap_target_hold(struct target *t);
void __wrap_target_hold(struct target *t)
{
	(void)t;
}

void __wrap_target_rehearse_end(struct target *t);
void __wrap_target_rehearse_end(struct target *t)
{
	(void)t;
}

void __wrap_target_await_end(struct target *t);
void __wrap_target_await_end(struct target *t)
{
	(void)t;
}

void __wrap_target_wait(struct target *t, int64_t deadline_ns);
void __wrap_target_wait(struct target *t, int64_t deadline_ns)
{
	woken_at_ns = deadline_ns;
	atomic_store(&t->arena->guest, FUTEX_OWNER_DIED);
}

static void on_gone(void *context)
{
	(void)context;
}

static void set_up(void)
{
	fixture_open();
	atomic_store(&fixture.arena->guest, 1);
	family_init(&family, &fixture.target);
	session_init(&session, &family, on_gone, NULL);
	woken_at_ns = n_begun = n_ended = 0;
}

static void tear_down(void)
{
	family_deinit(&family);
	fixture_close();
}

static void begin(struct session_request *request, struct rpc_call *call)
{
	(void)request, (void)call;
	n_begun++;
}

static void deliver(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	(void)request, (void)result, (void)d;
	n_ended += r == CAPTURE_CANCELLED;
}

/* Leaves a request that came while the worker was busy. */
static void ask(enum recorder_action what)
{
	struct session_request *request = calloc(1, sizeof *request);

	ck_assert_ptr_nonnull(request);
	profile_options_init(&request->capture.options);
	request->recorder_action = what;
	request->discards = 1;
	request->begin = begin;
	request->deliver = deliver;
	ck_assert_int_eq(request_list_append(&session.recorder_requests, request, 2), 0);
}

START_TEST(idle_worker_sleeps_for_good)
{
	worker_run(&session);
	ck_assert_int_eq(woken_at_ns, INT64_MAX);
}
END_TEST

START_TEST(rings_of_a_recorder_that_was_on_within_one_look_are_given_back)
{
	int64_t begun_ns = monotonic_ns();

	ask(RECORDER_START);
	ask(RECORDER_STOP);
	worker_run(&session);
	ck_assert_int_eq(n_begun, 1);
	ck_assert_int_eq(n_ended, 1);
	ck_assert_int_ge(woken_at_ns, begun_ns + KEPT_NS);
	ck_assert_int_le(woken_at_ns, monotonic_ns() + KEPT_NS);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(idle_worker_sleeps_for_good),
	UNIT_TEST(rings_of_a_recorder_that_was_on_within_one_look_are_given_back),
	{NULL},
};

UNIT_MAIN("worker", .set_up = set_up, .tear_down = tear_down, .tests = tests)
