/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the server and the client of rpc/ with each other, on a socket pair. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/diag.h"
#include "tests/unit/rpc_fixture.h"
#include "tests/unit/unit.h"

static void handle_fail(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	(void)request, (void)n;
	ck_assert_ptr_eq(context, &rpc);
	rpc_call_fail(call, RPC_INTERNAL, "Another profiling session active.");
}

static void handle_fail_with(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	(void)context;
	rpc_call_fail_with(call, RPC_ABORTED, "%d: %.*s", 7, (int)n, (const char *)request);
}

static const struct rpc_method methods[] = {
	{"/t.Test/Echo", SMALL_BYTES, handle_echo, RPC_UNARY},
	{"/t.Test/Hold", SMALL_BYTES, handle_hold, RPC_UNARY},
	{"/t.Test/Fail", SMALL_BYTES, handle_fail, RPC_UNARY},
	{"/t.Test/FailWith", 1000, handle_fail_with, RPC_UNARY},
};

static void set_up(void)
{
	rpc_fixture_open(methods, sizeof methods / sizeof methods[0]);
}

START_TEST(answers_with_the_bytes_it_was_sent)
{
	expect_reply(make_call("/t.Test/Echo", "a\0b", 3), "a\0b", 3);
	expect_reply(make_call("/t.Test/Echo", "again", 5), "again", 5);
}
END_TEST

START_TEST(empty_messages_are_messages)
{
	expect_reply(make_call("/t.Test/Echo", NULL, 0), NULL, 0);
}
END_TEST

START_TEST(unknown_method_is_unimplemented_and_told)
{
	expect_end(make_call("/t.Test/Nothing", "x", 1), RPC_UNIMPLEMENTED, "no such method");
	ck_assert_str_eq(rpc.unknown, "/t.Test/Nothing");
}
END_TEST

static int read_nothing(const uint8_t *data, size_t n, void *context)
{
	(void)data, (void)n, (void)context;
	ck_abort_msg("there is nothing to read");
	return 0;
}

START_TEST(error_text_reaches_the_client)
{
	struct rpc_pending *pending = make_call("/t.Test/Fail", "x", 1);

	ck_assert_int_eq(rpc_pending_read(pending, read_nothing, NULL), -ENODATA);
	ck_assert_uint_eq(rpc_pending_get_bytes(pending), 0);
	expect_end(pending, RPC_INTERNAL, "Another profiling session active.");
}
END_TEST

static void *answer_held(void *unused)
{
	wait_for(&rpc.arrived);
	reply_held("late");
	return unused;
}

START_TEST(error_text_with_parts_is_printable)
{
	char large[600];
	char cut[512] = "7: ";

	expect_end(make_call("/t.Test/FailWith", "a\xff\x1b[m\xc3\xa9", 7), RPC_ABORTED,
		"7: a??[m\xc3\xa9");
	memset(large, 'x', sizeof large);
	memset(cut + 3, 'x', sizeof cut - 1 - 3);
	expect_end(make_call("/t.Test/FailWith", large, sizeof large), RPC_ABORTED, cut);
}
END_TEST

START_TEST(another_thread_may_answer_later)
{
	struct rpc_pending *pending = start_call("/t.Test/Hold", "x", 1, PATIENCE_MS);
	pthread_t thread;

	ck_assert_int_eq(rpc_pending_wait(pending, 0), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, answer_held, NULL), 0);
	expect_reply(pending, "late", 4);
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(other_calls_are_served_while_one_waits)
{
	struct rpc_pending *pending = start_call("/t.Test/Hold", "x", 1, PATIENCE_MS);

	ck_assert_int_eq(rpc_pending_wait(pending, 0), 0);
	expect_reply(make_call("/t.Test/Echo", "hello", 5), "hello", 5);
	wait_for(&rpc.arrived);
	reply_held("done");
	expect_reply(pending, "done", 4);
}
END_TEST

START_TEST(stop_and_start_again)
{
	for (int i = 0; i < 5; i++) {
		rpc_fixture_close();
		set_up();
		expect_reply(make_call("/t.Test/Echo", "x", 1), "x", 1);
	}
}
END_TEST

START_TEST(connections_are_independent)
{
	struct rpc_channel *first = rpc.channel, *second = connect_channel();

	expect_reply(make_call("/t.Test/Echo", "1", 1), "1", 1);
	rpc.channel = second;
	expect_reply(make_call("/t.Test/Echo", "2", 1), "2", 1);
	rpc.channel = rpc_channel_free(first);
	rpc.channel = second;
	expect_reply(make_call("/t.Test/Echo", "3", 1), "3", 1);
}
END_TEST

START_TEST(peer_that_hangs_up_is_unavailable)
{
	struct diag d = DIAG_INIT;
	int fds[2];

	rpc_channel_free(rpc.channel);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	ck_assert_int_eq(rpc_channel_new(fds[1], "localhost:1", &rpc.channel, &d), 0);
	close(fds[0]);
	expect_end(make_call("/t.Test/Echo", "x", 1), RPC_UNAVAILABLE, "");
}
END_TEST

/* Returns whether thread |tid| of this process blocks |signal|. */
static bool thread_blocks(const char *tid, int signal)
{
	char path[300], line[256];
	unsigned long long mask = 0;
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%s/status", tid);
	file = fopen(path, "re");
	if (!file)
		return true; /* the thread has ended */
	while (fgets(line, sizeof line, file))
		sscanf(line, "SigBlk: %llx", &mask);
	fclose(file);
	return (mask >> (signal - 1)) & 1;
}

START_TEST(no_thread_of_ours_takes_signals)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	char own[16];
	int n_others = 0;

	snprintf(own, sizeof own, "%d", getpid());
	expect_reply(make_call("/t.Test/Echo", "x", 1), "x", 1);
	while ((task = readdir(tasks))) {
		if (task->d_name[0] == '.' || !strcmp(task->d_name, own))
			continue;
		n_others++;
		ck_assert_msg(thread_blocks(task->d_name, SIGTERM), "thread %s", task->d_name);
		ck_assert_msg(thread_blocks(task->d_name, SIGPROF), "thread %s", task->d_name);
	}
	closedir(tasks);
	ck_assert_int_gt(n_others, 0);
	ck_assert(!thread_blocks(own, SIGTERM));
}
END_TEST

START_TEST(status_names_are_grpcs)
{
	ck_assert_str_eq(rpc_status_name(RPC_OK), "OK");
	ck_assert_str_eq(rpc_status_name(3), "INVALID_ARGUMENT");
	ck_assert_str_eq(rpc_status_name(16), "UNAUTHENTICATED");
	ck_assert_str_eq(rpc_status_name(17), "UNKNOWN");
	ck_assert_str_eq(rpc_status_name(-1), "UNKNOWN");
}
END_TEST

static const struct unit_test rpc_tests[] = {
	UNIT_TEST(answers_with_the_bytes_it_was_sent),
	UNIT_TEST(empty_messages_are_messages),
	UNIT_TEST(unknown_method_is_unimplemented_and_told),
	UNIT_TEST(error_text_reaches_the_client),
	UNIT_TEST(error_text_with_parts_is_printable),
	UNIT_TEST(another_thread_may_answer_later),
	UNIT_TEST(other_calls_are_served_while_one_waits),
	UNIT_TEST(stop_and_start_again),
	UNIT_TEST(connections_are_independent),
	UNIT_TEST(peer_that_hangs_up_is_unavailable),
	UNIT_TEST(no_thread_of_ours_takes_signals),
	{NULL},
};

static const struct unit_test status_tests[] = {
	UNIT_TEST(status_names_are_grpcs),
	{NULL},
};

static const struct unit cases[] = {
	{"rpc", .set_up = set_up, .tear_down = rpc_fixture_close,
		.timeout_s = 3 * PATIENCE_MS / 1000, .tests = rpc_tests},
	{"status", .tests = status_tests},
	{NULL},
};

UNIT_MAIN_OF("rpc", cases)
