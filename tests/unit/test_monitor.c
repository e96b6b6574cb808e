/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests Monitor, by a gRPC call, with a recording that takes no time: it is delivered or refused
 * before session_take() has returned. Linked with -Wl,--wrap=session_take. gRPC lives in the test's
 * own process, so check must fork before the fixture starts it.
 */
#include "daemon/serve/calls/service.h"

#include <check.h>
#include <stdatomic.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/calls/methods.h"
#include "daemon/serve/calls/service.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"
#include "daemon/target/family.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/rpc_fixture.h"
#include "tests/unit/unit.h"

#define PATH "/t.Monitor/Monitor"
/* MonitorRequest: duration_ms 1, monitoring_level 1. */
#define REQUEST "\x08\x01\x10\x01"

static struct family family;
static struct session session;
static struct errands errands;
static struct service service = {.errands = &errands};
static int taken; /* the result of session_take() */

/*
 * Does the worker's part, too: on a busy machine the worker may be done before session_take()
 * returns.
 */
int __wrap_session_take(struct session *s, struct session_request *request);
int __wrap_session_take(struct session *s, struct session_request *request)
{
	struct capture_result nothing = {.is_empty = 1};
	struct diag d = DIAG_INIT;

	ck_assert_ptr_eq(s, &session);
	if (!taken)
		request->deliver(request, CAPTURE_CANCELLED, &nothing, &d);
	session_request_free(request);
	return taken;
}

static void handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	(void)context;
	monitor_handle(call, bytes, n, &service);
}

static const struct rpc_method methods[] = {
	{PATH, METHODS_MAX_REQUEST_BYTES, handle, RPC_UNARY},
};

static void set_up(void)
{
	fixture_open();
	atomic_store(&fixture.arena->guest, 1); /* the program is alive */
	family_init(&family, &fixture.target);
	session.family = &family;
	service.session = &session;
	errands_init(&errands, &service);
	rpc_fixture_open(methods, 1);
}

static void tear_down(void)
{
	rpc_fixture_close();
	family_deinit(&family);
	fixture_close();
}

static int find_program(const uint8_t *data, size_t n, void *unused)
{
	(void)unused;
	ck_assert_ptr_nonnull(memmem(data, n, "Program: fixture", 16));
	return 0;
}

static void expect_answer(int outcome)
{
	struct rpc_pending *pending;

	taken = outcome;
	pending = make_call(PATH, REQUEST, sizeof REQUEST - 1);
	ck_assert_msg(
		rpc_pending_get_status(pending) == RPC_OK, "%s", rpc_pending_get_text(pending));
	ck_assert_int_eq(rpc_pending_read(pending, find_program, NULL), 0);
	rpc_pending_free(pending);
}

START_TEST(answers_when_its_recording_was_over_at_once)
{
	expect_answer(0);
}
END_TEST

START_TEST(answers_when_somebody_else_records)
{
	expect_answer(SESSION_BUSY);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(answers_when_its_recording_was_over_at_once),
	UNIT_TEST(answers_when_somebody_else_records),
	{NULL},
};

UNIT_MAIN("monitor", .set_up = set_up, .tear_down = tear_down, .timeout_s = 60, .tests = tests)
