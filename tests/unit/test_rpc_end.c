/* SPDX-License-Identifier: Apache-2.0 */
/* Tests calls that end early: they are cancelled, come too late, or their server ends. */
#include <check.h>
#include <pthread.h>
#include <stdint.h>

#include "base/clock.h"
#include "tests/unit/rpc_fixture.h"
#include "tests/unit/unit.h"

static void on_cancel_tell(struct rpc_call *call, void *context)
{
	ck_assert_ptr_eq(call, rpc.held);
	ck_assert_ptr_eq(context, &rpc);
	rpc.n_cancels++;
	sem_post(&rpc.cancelled);
}

static void handle_hold_watched(
	struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	rpc_call_set_on_cancel(call, on_cancel_tell, &rpc);
	handle_hold(call, request, n, context);
}

static void on_cancel_answer(struct rpc_call *call, void *context)
{
	on_cancel_tell(call, context);
	rpc_call_fail(call, RPC_CANCELLED, "given up");
}

static void handle_hold_until_cancel(
	struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	rpc_call_set_on_cancel(call, on_cancel_answer, &rpc);
	handle_hold(call, request, n, context);
}

static const struct rpc_method methods[] = {
	{"/t.Test/Echo", SMALL_BYTES, handle_echo, RPC_UNARY},
	{"/t.Test/Hold", SMALL_BYTES, handle_hold, RPC_UNARY},
	{"/t.Test/HoldWatched", SMALL_BYTES, handle_hold_watched, RPC_UNARY},
	{"/t.Test/HoldUntilCancel", SMALL_BYTES, handle_hold_until_cancel, RPC_UNARY},
};

static void set_up(void)
{
	rpc_fixture_open(methods, sizeof methods / sizeof methods[0]);
}

START_TEST(cancel_is_reported_within_100_ms)
{
	struct rpc_pending *pending = start_call("/t.Test/HoldUntilCancel", "x", 1, PATIENCE_MS);
	int64_t start_ns;

	wait_for(&rpc.arrived);
	start_ns = monotonic_ns();
	rpc_pending_cancel(pending);
	expect_end(pending, RPC_CANCELLED, "");
	wait_for(&rpc.cancelled);
	ck_assert_int_lt(monotonic_ns() - start_ns, 100000000);
	ck_assert_int_eq(rpc.n_cancels, 1);
}
END_TEST

START_TEST(lost_connection_is_a_cancel)
{
	struct rpc_pending *pending = start_call("/t.Test/HoldUntilCancel", "x", 1, PATIENCE_MS);

	wait_for(&rpc.arrived);
	rpc_pending_free(pending);
	rpc.channel = rpc_channel_free(rpc.channel);
	wait_for(&rpc.cancelled);
	ck_assert_int_eq(rpc.n_cancels, 1);
}
END_TEST

START_TEST(late_answer_after_cancel_does_no_harm)
{
	struct rpc_pending *pending = start_call("/t.Test/HoldWatched", "x", 1, PATIENCE_MS);

	wait_for(&rpc.arrived);
	rpc_pending_cancel(pending);
	wait_for(&rpc.cancelled);
	expect_end(pending, RPC_CANCELLED, "");
	reply_held("nobody reads this");
	expect_reply(make_call("/t.Test/Echo", "alive", 5), "alive", 5);
	ck_assert_int_eq(rpc.n_cancels, 1);
}
END_TEST

START_TEST(answered_call_is_not_cancelled)
{
	struct rpc_pending *pending = start_call("/t.Test/HoldWatched", "x", 1, PATIENCE_MS);

	wait_for(&rpc.arrived);
	reply_held("fine");
	expect_reply(pending, "fine", 4);
	rpc_fixture_close(); /* the server's thread has handled all events after this */
	ck_assert_int_eq(rpc.n_cancels, 0);
}
END_TEST

START_TEST(deadline_passes_on_both_sides)
{
	int64_t start_ns = monotonic_ns();
	struct rpc_pending *pending = start_call("/t.Test/HoldUntilCancel", "x", 1, 300);

	wait_for(&rpc.arrived);
	/* The wire carries the time that is left, so the server's deadline is a little later. */
	ck_assert_int_ge(rpc.deadline_ns, start_ns + 250 * 1000000);
	ck_assert_int_le(rpc.deadline_ns, monotonic_ns() + 350 * 1000000);
	expect_end(pending, RPC_DEADLINE_EXCEEDED, "");
	wait_for(&rpc.cancelled);
	ck_assert_int_ge(monotonic_ns() - start_ns, 300 * 1000000);
}
END_TEST

START_TEST(no_deadline_is_the_largest)
{
	struct rpc_pending *pending = start_call("/t.Test/Hold", "x", 1, -1);

	wait_for(&rpc.arrived);
	ck_assert_int_eq(rpc.deadline_ns, INT64_MAX);
	reply_held("");
	expect_reply(pending, "", 0);
}
END_TEST

START_TEST(stop_cancels_a_call_in_flight)
{
	struct rpc_pending *pending = start_call("/t.Test/HoldUntilCancel", "x", 1, PATIENCE_MS);

	wait_for(&rpc.arrived);
	rpc.server = rpc_server_free(rpc.server);
	ck_assert_int_eq(rpc.n_cancels, 1);
	expect_end(pending, RPC_UNAVAILABLE, "");
}
END_TEST

static void *answer_after_cancel(void *unused)
{
	wait_for(&rpc.cancelled);
	reply_held("too late");
	return unused;
}

START_TEST(stop_waits_for_the_owner_of_a_call)
{
	struct rpc_pending *pending = start_call("/t.Test/HoldWatched", "x", 1, PATIENCE_MS);
	pthread_t thread;

	wait_for(&rpc.arrived);
	ck_assert_int_eq(pthread_create(&thread, NULL, answer_after_cancel, NULL), 0);
	rpc.server = rpc_server_free(rpc.server);
	pthread_join(thread, NULL);
	expect_end(pending, RPC_UNAVAILABLE, "");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(cancel_is_reported_within_100_ms),
	UNIT_TEST(lost_connection_is_a_cancel),
	UNIT_TEST(late_answer_after_cancel_does_no_harm),
	UNIT_TEST(answered_call_is_not_cancelled),
	UNIT_TEST(deadline_passes_on_both_sides),
	UNIT_TEST(no_deadline_is_the_largest),
	UNIT_TEST(stop_cancels_a_call_in_flight),
	UNIT_TEST(stop_waits_for_the_owner_of_a_call),
	{NULL},
};

UNIT_MAIN("rpc_end", .set_up = set_up, .tear_down = rpc_fixture_close,
	.timeout_s = 3 * PATIENCE_MS / 1000, .tests = tests)
