/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests calls in which both sides stream, RPC_BIDI, with gRPC itself as the client: our own
 * client makes no such calls.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>

#include "base/chunks.h"
#include "rpc/engine.h"
#include "rpc/message.h"
#include "tests/unit/rpc_fixture.h"
#include "tests/unit/unit.h"

/* Answers each message with itself; "end" ends the call. */
static void handle_talk(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	struct chunks answer = CHUNKS_INIT;

	(void)context;
	if (n == 3 && !memcmp(request, "end", 3)) {
		rpc_call_finish(call, RPC_NOT_FOUND, "no such thing");
		return;
	}
	chunks_append(&answer, request, n);
	ck_assert_int_eq(rpc_call_write(call, &answer, 0), 0);
}

static void on_cancel(struct rpc_call *call, void *context)
{
	(void)call, (void)context;
	sem_post(&rpc.cancelled);
}

static void handle_talk_later(
	struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	rpc_call_set_on_cancel(call, on_cancel, &rpc);
	handle_hold(call, request, n, context);
}

static const struct rpc_method methods[] = {
	{"/t.Test/Talk", SMALL_BYTES, handle_talk, RPC_BIDI},
	{"/t.Test/TalkLater", SMALL_BYTES, handle_talk_later, RPC_BIDI},
};

/* The client's side. The address of a member is the tag of the operation that fills it. */
static struct {
	grpc_completion_queue *queue;
	grpc_channel *channel;
	grpc_call *call;
	grpc_byte_buffer *answer;
	grpc_metadata_array initial;
	grpc_metadata_array trailing;
	grpc_status_code status;
	grpc_slice details;
} side;

static void set_up(void)
{
	grpc_channel_credentials *credentials = grpc_insecure_credentials_create();
	int fds[2];

	rpc_fixture_open(methods, sizeof methods / sizeof methods[0]);
	ck_assert_int_eq(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
	ck_assert_int_eq(rpc_server_adopt(rpc.server, fds[0], NULL), 0);
	side.queue = grpc_completion_queue_create_for_pluck(NULL);
	side.channel = grpc_channel_create_from_fd("t", fds[1], credentials, NULL);
	grpc_channel_credentials_release(credentials);
}

static void tear_down(void)
{
	grpc_call_unref(side.call);
	grpc_channel_destroy(side.channel);
	grpc_completion_queue_shutdown(side.queue);
	grpc_completion_queue_destroy(side.queue);
	grpc_metadata_array_destroy(&side.initial);
	grpc_metadata_array_destroy(&side.trailing);
	grpc_slice_unref(side.details);
	rpc_fixture_close();
}

static gpr_timespec patience(void)
{
	return gpr_time_add(
		gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(PATIENCE_MS, GPR_TIMESPAN));
}

static void await(void *tag)
{
	ck_assert_int_eq(grpc_completion_queue_pluck(side.queue, tag, patience(), NULL).type,
		GRPC_OP_COMPLETE);
}

static void start(const grpc_op *op, void *tag)
{
	ck_assert_int_eq(grpc_call_start_batch(side.call, op, 1, tag, NULL), GRPC_CALL_OK);
}

static void do_op(grpc_op op)
{
	start(&op, &op);
	await(&op);
}

static void open_call(const char *path)
{
	grpc_op op = {.op = GRPC_OP_RECV_STATUS_ON_CLIENT};

	side.call = grpc_channel_create_call(side.channel, NULL, 0, side.queue,
		grpc_slice_from_static_string(path), NULL, patience(), NULL);
	grpc_metadata_array_init(&side.initial);
	grpc_metadata_array_init(&side.trailing);
	do_op((grpc_op){.op = GRPC_OP_SEND_INITIAL_METADATA});
	op.data.recv_status_on_client.trailing_metadata = &side.trailing;
	op.data.recv_status_on_client.status = &side.status;
	op.data.recv_status_on_client.status_details = &side.details;
	start(&op, &side.status);
	op = (grpc_op){.op = GRPC_OP_RECV_INITIAL_METADATA};
	op.data.recv_initial_metadata.recv_initial_metadata = &side.initial;
	start(&op, &side.initial);
}

static void say(const char *words)
{
	grpc_op op = {.op = GRPC_OP_SEND_MESSAGE};
	grpc_byte_buffer *message = message_copy(words, strlen(words));

	op.data.send_message.send_message = message;
	do_op(op);
	grpc_byte_buffer_destroy(message);
}

/* Expects the next answer, or with NULL the end of the answers. */
static void expect_answer(const char *words)
{
	grpc_op op = {.op = GRPC_OP_RECV_MESSAGE};
	uint8_t *bytes;

	op.data.recv_message.recv_message = &side.answer;
	do_op(op);
	ck_assert_int_eq(!side.answer, !words);
	if (!words)
		return;
	ck_assert_uint_eq(grpc_byte_buffer_length(side.answer), strlen(words));
	bytes = message_flatten(side.answer);
	ck_assert_mem_eq(bytes, words, strlen(words));
	free(bytes);
	grpc_byte_buffer_destroy(side.answer);
}

static void expect_status(int status, const char *words)
{
	char *text;

	await(&side.initial);
	await(&side.status);
	text = grpc_slice_to_c_string(side.details);
	ck_assert_str_eq(rpc_status_name((int)side.status), rpc_status_name(status));
	/* gRPC 1.85 adds words of its own. */
	ck_assert_msg(words[0] ? strstr(text, words) != NULL : !text[0], "\"%s\" lacks \"%s\"",
		text, words);
	gpr_free(text);
}

static void hang_up(void)
{
	do_op((grpc_op){.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT});
}

START_TEST(each_message_is_answered)
{
	open_call("/t.Test/Talk");
	for (int i = 0; i < 100; i++) {
		say("hello");
		expect_answer("hello");
	}
	hang_up();
	expect_answer(NULL);
	expect_status(RPC_OK, "");
}
END_TEST

START_TEST(messages_that_came_at_once_are_answered_in_order)
{
	open_call("/t.Test/Talk");
	say("one");
	say("two");
	say("three");
	hang_up();
	expect_answer("one");
	expect_answer("two");
	expect_answer("three");
	expect_answer(NULL);
	expect_status(RPC_OK, "");
}
END_TEST

START_TEST(handler_may_end_the_call)
{
	open_call("/t.Test/Talk");
	say("a");
	expect_answer("a");
	say("end");
	expect_answer(NULL);
	expect_status(RPC_NOT_FOUND, "no such thing");
}
END_TEST

START_TEST(client_without_a_message_is_ok)
{
	open_call("/t.Test/Talk");
	hang_up();
	expect_answer(NULL);
	expect_status(RPC_OK, "");
}
END_TEST

START_TEST(each_message_is_bounded)
{
	open_call("/t.Test/Talk");
	say("short");
	expect_answer("short");
	say("longer than it may be");
	expect_answer(NULL);
	expect_status(RPC_RESOURCE_EXHAUSTED,
		"/t.Test/Talk: the request is 21 bytes; it may have 16 at most");
}
END_TEST

static void *answer_held(void *unused)
{
	struct chunks answer = CHUNKS_INIT;

	wait_for(&rpc.arrived);
	chunks_append(&answer, "late", 4);
	ck_assert_int_eq(rpc_call_write(rpc.held, &answer, PATIENCE_MS), 0);
	return unused;
}

START_TEST(another_thread_may_answer)
{
	pthread_t thread;

	open_call("/t.Test/TalkLater");
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(pthread_create(&thread, NULL, answer_held, NULL), 0);
		say("x");
		expect_answer("late");
		pthread_join(thread, NULL);
	}
	hang_up();
	expect_status(RPC_OK, "");
}
END_TEST

START_TEST(cancel_while_a_message_waits_is_reported)
{
	open_call("/t.Test/TalkLater");
	say("x");
	wait_for(&rpc.arrived);
	grpc_call_cancel(side.call, NULL);
	wait_for(&rpc.cancelled);
	rpc_call_fail(rpc.held, RPC_CANCELLED, "");
	expect_status(RPC_CANCELLED, "CANCELLED");
}
END_TEST

START_TEST(cancel_while_none_waits_ends_the_call)
{
	open_call("/t.Test/Talk");
	say("x");
	expect_answer("x");
	grpc_call_cancel(side.call, NULL);
	expect_status(RPC_CANCELLED, "CANCELLED");
	rpc.server = rpc_server_free(rpc.server); /* waits for every call */
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(each_message_is_answered),
	UNIT_TEST(messages_that_came_at_once_are_answered_in_order),
	UNIT_TEST(handler_may_end_the_call),
	UNIT_TEST(client_without_a_message_is_ok),
	UNIT_TEST(each_message_is_bounded),
	UNIT_TEST(another_thread_may_answer),
	UNIT_TEST(cancel_while_a_message_waits_is_reported),
	UNIT_TEST(cancel_while_none_waits_ends_the_call),
	{NULL},
};

UNIT_MAIN("rpc_bidi", .set_up = set_up, .tear_down = tear_down, .timeout_s = 3 * PATIENCE_MS / 1000,
	.tests = tests)
