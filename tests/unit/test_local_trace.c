/* SPDX-License-Identifier: Apache-2.0 */
/* Tests requests for a trace that a hostile program writes into the arena. */
#include "daemon/serve/session/local_trace.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/serve/session/session_request.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

static struct diag d;
static struct session_request *request;

static struct arena_trace *words(void)
{
	return &fixture.arena->trace;
}

static void set_up(void)
{
	fixture_open();
	fixture.target.pid = getpid();
	snprintf(fixture.target.name, sizeof fixture.target.name, "../evil");
	fake_root_make();
	d = (struct diag)DIAG_INIT;
	request = NULL;
	snprintf(words()->log_dir, sizeof words()->log_dir, "%s/logs", fake_root);
	atomic_store(&words()->state, ARENA_TRACE_ASKED);
}

static void tear_down(void)
{
	if (request)
		session_request_deinit(request);
	free(request);
	fake_root_remove();
	fixture_close();
}

static int take(void)
{
	return local_trace_take(&fixture.target, &request, &d);
}

static void expect_refusal(int code, const char *part)
{
	ck_assert_int_eq(take(), code);
	ck_assert_ptr_null(request);
	ck_assert_uint_eq(atomic_load(&words()->state), ARENA_TRACE_DONE);
	ck_assert_int_eq(atomic_load(&words()->result), code);
	ck_assert_msg(strstr(words()->message, part) != NULL, "%s", words()->message);
	ck_assert_str_eq(words()->message, d.text);
}

START_TEST(takes_a_request_once)
{
	strcpy(words()->options, "host_tracer_level=3\nsession_id=mine\nheard=of\n");
	ck_assert(local_trace_is_asked(&fixture.target));
	ck_assert_msg(take() == 0, "%s", d.text);
	ck_assert(!local_trace_is_asked(&fixture.target));
	ck_assert_uint_eq(request->capture.options.host_tracer_level, 3);
	ck_assert_uint_eq(request->capture.options.duration_ms, UINT64_MAX);
	ck_assert_uint_eq(request->capture.n_warnings, 1);
	ck_assert_uint_gt(request->capture.n_options_bytes, 0);
	ck_assert_ptr_nonnull(strstr(request->trace->dir.path, "/logs/plugins/profile/mine"));
	local_trace_begin(request->trace);
	ck_assert_uint_eq(atomic_load(&words()->state), ARENA_TRACE_RUNNING);
	ck_assert(!local_trace_is_ending(request->trace));
	atomic_store(&words()->state, ARENA_TRACE_ENDING);
	ck_assert(local_trace_is_ending(request->trace));
}
END_TEST

START_TEST(does_not_take_a_withdrawn_request)
{
	atomic_store(&words()->state, ARENA_TRACE_NONE);
	ck_assert_int_eq(take(), -ECANCELED);
	ck_assert_uint_eq(atomic_load(&words()->state), ARENA_TRACE_NONE);
}
END_TEST

START_TEST(texts_without_an_end_are_cut)
{
	memset(words()->log_dir, 'x', sizeof words()->log_dir);
	memset(words()->options, 'y', sizeof words()->options);
	expect_refusal(-EINVAL, "not of the form key=value");
	atomic_store(&words()->state, ARENA_TRACE_ASKED);
	words()->options[0] = '\0';
	words()->log_dir[0] = '/';
	ck_assert_int_lt(take(), 0);
}
END_TEST

START_TEST(a_relative_directory_is_refused)
{
	strcpy(words()->log_dir, "logs");
	expect_refusal(-EINVAL, "not an absolute path");
	atomic_store(&words()->state, ARENA_TRACE_ASKED);
	words()->log_dir[0] = '\0';
	expect_refusal(-EINVAL, "not an absolute path");
}
END_TEST

START_TEST(names_stay_in_their_directory)
{
	struct capture_result result = {.is_empty = 0};
	struct chunks xspace = CHUNKS_INIT;
	char path[256];

	strcpy(words()->options, "override_hostname=../../../up\n");
	ck_assert_msg(take() == 0, "%s", d.text);
	ck_assert_str_eq(request->trace->host, "../../../up");
	chunks_append(&xspace, "x", 1);
	ck_assert_int_eq(delivery_new_from_chunks(&xspace, &result.delivery), 0);
	local_trace_end(request->trace, 0, &result, &d);
	delivery_free(result.delivery);
	ck_assert_int_eq(atomic_load(&words()->result), 0);
	snprintf(path, sizeof path, "%s/up.xplane.pb", fake_root);
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

START_TEST(an_unknown_key_is_named_with_the_nearest)
{
	strcpy(words()->options, "ptap_usage_interval=1\n");
	expect_refusal(-EINVAL, "the nearest known one is ptap_usage_interval_ms");
}
END_TEST

START_TEST(a_trace_beside_a_capture_is_refused)
{
	local_trace_refuse(&fixture.target);
	ck_assert_uint_eq(atomic_load(&words()->state), ARENA_TRACE_DONE);
	ck_assert_int_eq(atomic_load(&words()->result), -EBUSY);
}
END_TEST

START_TEST(an_empty_trace_leaves_nothing)
{
	struct capture_result result = {.is_empty = 1};
	char path[256];

	ck_assert_msg(take() == 0, "%s", d.text);
	snprintf(path, sizeof path, "%s/logs", fake_root);
	ck_assert_int_eq(access(path, F_OK), 0);
	local_trace_end(request->trace, 0, &result, &d);
	ck_assert_int_eq(atomic_load(&words()->result), -ENODATA);
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(takes_a_request_once),
	UNIT_TEST(does_not_take_a_withdrawn_request),
	UNIT_TEST(texts_without_an_end_are_cut),
	UNIT_TEST(a_relative_directory_is_refused),
	UNIT_TEST(names_stay_in_their_directory),
	UNIT_TEST(an_unknown_key_is_named_with_the_nearest),
	UNIT_TEST(a_trace_beside_a_capture_is_refused),
	UNIT_TEST(an_empty_trace_leaves_nothing),
	{NULL},
};

UNIT_MAIN("local_trace", .set_up = set_up, .tear_down = tear_down, .tests = tests)
