/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests health by gRPC calls. The service has a session, which is open or closed, and no program.
 */
#include "daemon/serve/calls/health.h"

#include <check.h>
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "daemon/serve/calls/methods.h"
#include "daemon/serve/session/session.h"
#include "tests/unit/rpc_fixture.h"
#include "tests/unit/unit.h"

#define CHECK_PATH "/t.Health/Check"
#define WATCH_PATH "/t.Health/Watch"

/* HealthCheckResponse. */
#define SERVING "\x08\x01"
#define NOT_SERVING "\x08\x02"
#define SERVICE_UNKNOWN "\x08\x03"

/* The number of calls that a connection accepts at a time. */
#define CALLS_EACH 16

static struct session session;
static struct health health;

static void check(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	(void)context;
	health_check(call, bytes, n, &health);
}

static void watch(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	(void)context;
	health_watch(call, bytes, n, &health);
}

static const struct rpc_method methods[] = {
	{CHECK_PATH, METHODS_MAX_REQUEST_BYTES, check, RPC_UNARY},
	{WATCH_PATH, METHODS_MAX_REQUEST_BYTES, watch, RPC_SERVER_STREAM},
};

static void set_up(void)
{
	atomic_store(&session.is_closing, 0);
	health_init(&health, &session);
	rpc_fixture_open(methods, sizeof methods / sizeof methods[0]);
}

static struct rpc_pending *start_watch(struct rpc_channel *channel, const char *name)
{
	uint8_t bytes[64] = {0x0a, (uint8_t)strlen(name)};
	struct rpc_request request = {WATCH_PATH, bytes, 2 + strlen(name), PATIENCE_MS, 0};
	struct rpc_pending *pending = NULL;
	struct diag d = DIAG_INIT;

	memcpy(bytes + 2, name, strlen(name));
	ck_assert_msg(!rpc_stream_start(channel, &request, &pending, &d), "%s", d.text);
	return pending;
}

static int compare(const uint8_t *data, size_t n, void *expected)
{
	ck_assert_uint_eq(n, 2);
	ck_assert_mem_eq(data, expected, 2);
	return 0;
}

static void expect_status(struct rpc_pending *pending, const char *status)
{
	ck_assert_int_eq(rpc_pending_next(pending, PATIENCE_MS), 1);
	ck_assert_int_eq(rpc_pending_read(pending, compare, (void *)status), 0);
}

START_TEST(says_whether_there_is_a_program)
{
	expect_reply(make_call(CHECK_PATH, "", 0), SERVING, 2);
	expect_reply(make_call(CHECK_PATH, "\x0a\x15grpc.health.v1.Health", 23), SERVING, 2);
	expect_end(make_call(CHECK_PATH, "\x0a\x01x", 3), RPC_NOT_FOUND, "no such service");
	expect_end(make_call(CHECK_PATH, "\x0a", 1), RPC_INVALID_ARGUMENT, "HealthCheckRequest");
	atomic_store(&session.is_closing, 1);
	expect_reply(make_call(CHECK_PATH, "", 0), NOT_SERVING, 2);
}
END_TEST

START_TEST(watcher_hears_of_the_end)
{
	struct rpc_pending *known = start_watch(rpc.channel, "");
	struct rpc_pending *unknown = start_watch(rpc.channel, "x");

	expect_status(known, SERVING);
	expect_status(unknown, SERVICE_UNKNOWN);
	/* When this later call is answered, both watchers wait. */
	expect_reply(make_call(CHECK_PATH, "", 0), SERVING, 2);
	health_end(&health);
	expect_end(known, RPC_UNAVAILABLE, session_gone_text);
	expect_end(unknown, RPC_UNAVAILABLE, session_gone_text);
}
END_TEST

START_TEST(late_watcher_hears_of_the_end)
{
	health_end(&health);
	/* When an error follows, gRPC drops answers that were not read yet. */
	expect_end(start_watch(rpc.channel, ""), RPC_UNAVAILABLE, session_gone_text);
}
END_TEST

/* The server notices later than the client that the client has gone. */
static void await_watchers(size_t n_expected)
{
	int64_t give_up_ns = monotonic_ns() + PATIENCE_MS * NS_PER_MS;
	size_t n;

	do {
		expect_reply(make_call(CHECK_PATH, "", 0), SERVING, 2);
		pthread_mutex_lock(&health.mutex);
		n = health.n_watchers;
		pthread_mutex_unlock(&health.mutex);
	} while (n != n_expected && monotonic_ns() < give_up_ns);
	ck_assert_uint_eq(n, n_expected);
}

START_TEST(leaving_watcher_makes_room)
{
	struct rpc_channel *channels[HEALTH_MAX_WATCHERS / CALLS_EACH];
	struct rpc_pending *watchers[HEALTH_MAX_WATCHERS];

	for (size_t i = 0; i < HEALTH_MAX_WATCHERS; i++) {
		if (i % CALLS_EACH == 0)
			channels[i / CALLS_EACH] = connect_channel();
		watchers[i] = start_watch(channels[i / CALLS_EACH], "");
		expect_status(watchers[i], SERVING);
	}
	expect_end(start_watch(rpc.channel, ""), RPC_RESOURCE_EXHAUSTED, "too many");
	rpc_pending_cancel(watchers[0]);
	expect_end(watchers[0], RPC_CANCELLED, "");
	await_watchers(HEALTH_MAX_WATCHERS - 1);
	watchers[0] = start_watch(rpc.channel, "");
	expect_status(watchers[0], SERVING);
	await_watchers(HEALTH_MAX_WATCHERS);
	health_end(&health);
	for (size_t i = 0; i < HEALTH_MAX_WATCHERS; i++)
		expect_end(watchers[i], RPC_UNAVAILABLE, session_gone_text);
	for (size_t i = 0; i < HEALTH_MAX_WATCHERS / CALLS_EACH; i++)
		rpc_channel_free(channels[i]);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(says_whether_there_is_a_program),
	UNIT_TEST(watcher_hears_of_the_end),
	UNIT_TEST(late_watcher_hears_of_the_end),
	UNIT_TEST(leaving_watcher_makes_room),
	{NULL},
};

UNIT_MAIN(
	"health", .set_up = set_up, .tear_down = rpc_fixture_close, .timeout_s = 60, .tests = tests)
