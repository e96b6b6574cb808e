/* SPDX-License-Identifier: Apache-2.0 */
/* Tests large requests and replies, and some that are too large. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "tests/unit/rpc_fixture.h"
#include "tests/unit/unit.h"

#define LARGE_BYTES (40u << 20)

/* Byte |i| of the large reply. */
static uint8_t large_byte(uint64_t i)
{
	return (uint8_t)(i ^ (i >> 8) ^ (i >> 16) ^ (i >> 24));
}

static void handle_large(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	struct chunks reply = CHUNKS_INIT;
	const size_t step = 300007; /* leaves an unused end in each chunk */

	(void)request, (void)n, (void)context;
	for (uint64_t at = 0; at < LARGE_BYTES;) {
		size_t part = LARGE_BYTES - at < step ? LARGE_BYTES - at : step;
		uint8_t *p = chunks_reserve(&reply, part);

		for (size_t i = 0; i < part; i++)
			p[i] = large_byte(at + i);
		chunks_commit(&reply, part);
		at += part;
	}
	rpc_call_reply(call, &reply);
}

static void handle_too_large(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	struct chunks reply = {.total_bytes = 1ull << 31};

	(void)request, (void)n, (void)context;
	rpc_call_reply(call, &reply);
}

static void handle_broken(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	struct chunks reply = CHUNKS_INIT;

	(void)context;
	chunks_append(&reply, request, n);
	reply.error = -ENOMEM;
	rpc_call_reply(call, &reply);
}

static const struct rpc_method methods[] = {
	{"/t.Test/Echo", 8u << 20, handle_echo, RPC_UNARY},
	{"/t.Test/Small", SMALL_BYTES, handle_echo, RPC_UNARY},
	{"/t.Test/Large", SMALL_BYTES, handle_large, RPC_UNARY},
	{"/t.Test/TooLarge", SMALL_BYTES, handle_too_large, RPC_UNARY},
	{"/t.Test/Broken", SMALL_BYTES, handle_broken, RPC_UNARY},
};

static void set_up(void)
{
	rpc_fixture_open(methods, sizeof methods / sizeof methods[0]);
}

START_TEST(request_above_the_methods_limit_is_refused)
{
	uint8_t request[SMALL_BYTES + 1] = {0};

	expect_reply(make_call("/t.Test/Small", request, SMALL_BYTES), request, SMALL_BYTES);
	expect_end(make_call("/t.Test/Small", request, SMALL_BYTES + 1), RPC_RESOURCE_EXHAUSTED,
		"/t.Test/Small: the request is 17 bytes; it may have 16 at most");
}
END_TEST

START_TEST(request_above_4_mib_is_refused)
{
	uint8_t *request = calloc(1, (4u << 20) + 1);

	expect_reply(make_call("/t.Test/Echo", request, 4u << 20), request, 4u << 20);
	expect_end(make_call("/t.Test/Echo", request, (4u << 20) + 1), RPC_RESOURCE_EXHAUSTED, "");
	expect_reply(make_call("/t.Test/Echo", "alive", 5), "alive", 5);
	free(request);
}
END_TEST

static int check_large(const uint8_t *data, size_t n, void *context)
{
	uint64_t *at = context;

	for (size_t i = 0; i < n; i++) {
		if (data[i] != large_byte(*at + i))
			return 1;
	}
	*at += n;
	return 0;
}

START_TEST(large_reply_arrives_whole)
{
	struct rpc_pending *pending = make_call("/t.Test/Large", "x", 1);
	uint64_t at = 0;

	ck_assert_int_eq(rpc_pending_get_status(pending), RPC_OK);
	ck_assert_uint_eq(rpc_pending_get_bytes(pending), LARGE_BYTES);
	ck_assert_int_eq(rpc_pending_read(pending, check_large, &at), 0);
	ck_assert_uint_eq(at, LARGE_BYTES);
	rpc_pending_free(pending);
}
END_TEST

static int stop_reading(const uint8_t *data, size_t n, void *context)
{
	(void)data, (void)n;
	return ++*(int *)context == 2 ? 42 : 0;
}

START_TEST(reading_stops_when_the_reader_says_so)
{
	struct rpc_pending *pending = make_call("/t.Test/Large", "x", 1);
	int n_pieces = 0;

	ck_assert_int_eq(rpc_pending_read(pending, stop_reading, &n_pieces), 42);
	ck_assert_int_eq(n_pieces, 2);
	rpc_pending_free(pending);
}
END_TEST

START_TEST(reply_above_2_gib_is_refused_with_its_size)
{
	expect_end(
		make_call("/t.Test/TooLarge", "x", 1), RPC_RESOURCE_EXHAUSTED, "2147483648 bytes");
}
END_TEST

START_TEST(reply_above_the_callers_limit_is_refused)
{
	const struct rpc_request request = {"/t.Test/Large", NULL, 0, PATIENCE_MS, LARGE_BYTES - 1};
	struct rpc_pending *pending = NULL;
	struct diag d = DIAG_INIT;
	char words[64];

	ck_assert_msg(!rpc_call_start(rpc.channel, &request, &pending, &d), "%s", d.text);
	ck_assert_int_eq(rpc_pending_wait(pending, PATIENCE_MS), 1);
	snprintf(words, sizeof words, "it is larger than %u bytes", LARGE_BYTES - 1);
	ck_assert_str_eq(rpc_pending_get_fault(pending), words);
	expect_end(pending, RPC_INTERNAL, words);
}
END_TEST

START_TEST(half_encoded_reply_is_never_sent)
{
	expect_end(make_call("/t.Test/Broken", "x", 1), RPC_RESOURCE_EXHAUSTED, "out of memory");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(request_above_the_methods_limit_is_refused),
	UNIT_TEST(request_above_4_mib_is_refused),
	UNIT_TEST(large_reply_arrives_whole),
	UNIT_TEST(reading_stops_when_the_reader_says_so),
	UNIT_TEST(reply_above_the_callers_limit_is_refused),
	UNIT_TEST(reply_above_2_gib_is_refused_with_its_size),
	UNIT_TEST(half_encoded_reply_is_never_sent),
	{NULL},
};

UNIT_MAIN("rpc_size", .set_up = set_up, .tear_down = rpc_fixture_close,
	.timeout_s = 3 * PATIENCE_MS / 1000, .tests = tests)
