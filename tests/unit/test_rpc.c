/* SPDX-License-Identifier: Apache-2.0 */
/* Server and client of rpc/ against each other, on a socket pair. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "rpc/client.h"
#include "rpc/server.h"

#define PATIENCE_MS 20000 /* a test fails after this; none waits for it */
#define SMALL_BYTES 16
#define LARGE_BYTES (40u << 20)

static struct {
	struct rpc_server *server;
	struct rpc_channel *channel;
	struct rpc_call *held; /* a call that nobody has answered yet */
	int64_t deadline_ns; /* of the held call */
	sem_t arrived; /* posted when |held| is set */
	sem_t cancelled; /* posted by on_cancel */
	int n_cancels;
	char unknown[64];
} t;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void wait_for(sem_t *semaphore)
{
	struct timespec end;
	int r;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE_MS / 1000;
	do
		r = sem_timedwait(semaphore, &end);
	while (r && errno == EINTR);
	ck_assert_msg(!r, "waited in vain: %s", errno_words(errno));
}

/* Handlers. */

static void handle_echo(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	struct chunks reply = CHUNKS_INIT;

	(void)context;
	chunks_append(&reply, request, n);
	rpc_call_reply(call, &reply);
	ck_assert_ptr_null(reply.chunks);
}

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

static void handle_hold(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	(void)request, (void)n, (void)context;
	t.held = call;
	t.deadline_ns = rpc_call_get_deadline_ns(call);
	sem_post(&t.arrived);
}

static void on_cancel_tell(struct rpc_call *call, void *context)
{
	ck_assert_ptr_eq(call, t.held);
	ck_assert_ptr_eq(context, &t);
	t.n_cancels++;
	sem_post(&t.cancelled);
}

static void handle_hold_watched(
	struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	rpc_call_set_on_cancel(call, on_cancel_tell, &t);
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
	rpc_call_set_on_cancel(call, on_cancel_answer, &t);
	handle_hold(call, request, n, context);
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

static void handle_fail(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	(void)request, (void)n;
	ck_assert_ptr_eq(context, &t);
	rpc_call_fail(call, RPC_INTERNAL, "Another profiling session active.");
}

static void note_unknown(const char *path, void *context)
{
	ck_assert_ptr_eq(context, &t);
	snprintf(t.unknown, sizeof t.unknown, "%s", path);
}

static const struct rpc_method methods[] = {
	{"/t.Test/Echo", 8u << 20, handle_echo},
	{"/t.Test/Small", SMALL_BYTES, handle_echo},
	{"/t.Test/Large", SMALL_BYTES, handle_large},
	{"/t.Test/Hold", SMALL_BYTES, handle_hold},
	{"/t.Test/HoldWatched", SMALL_BYTES, handle_hold_watched},
	{"/t.Test/HoldUntilCancel", SMALL_BYTES, handle_hold_until_cancel},
	{"/t.Test/TooLarge", SMALL_BYTES, handle_too_large},
	{"/t.Test/Broken", SMALL_BYTES, handle_broken},
	{"/t.Test/Fail", SMALL_BYTES, handle_fail},
};

/* Server and channel. gRPC lives in the test's own process: check forks before the fixture. */

static struct rpc_channel *connect_channel(void)
{
	struct rpc_channel *channel = NULL;
	struct diag d = DIAG_INIT;
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	ck_assert_msg(!rpc_server_adopt(t.server, fds[0], &d), "%s", d.text);
	ck_assert_msg(!rpc_channel_new(fds[1], "localhost:1", &channel, &d), "%s", d.text);
	return channel;
}

static void set_up(void)
{
	const struct rpc_server_config config = {
		.methods = methods,
		.n_methods = sizeof methods / sizeof methods[0],
		.context = &t,
		.unknown = note_unknown,
	};
	struct diag d = DIAG_INIT;

	sem_init(&t.arrived, 0, 0);
	sem_init(&t.cancelled, 0, 0);
	ck_assert_msg(!rpc_server_new(&config, &t.server, &d), "%s", d.text);
	t.channel = connect_channel();
}

static void tear_down(void)
{
	t.channel = rpc_channel_free(t.channel);
	t.server = rpc_server_free(t.server);
}

static struct rpc_pending *start(
	const char *path, const void *message, size_t n, int64_t timeout_ms)
{
	struct rpc_request request = {path, message, n, timeout_ms};
	struct rpc_pending *pending = NULL;
	struct diag d = DIAG_INIT;

	ck_assert_msg(!rpc_call_start(t.channel, &request, &pending, &d), "%s", d.text);
	return pending;
}

static struct rpc_pending *call(const char *path, const void *message, size_t n)
{
	struct rpc_pending *pending = start(path, message, n, PATIENCE_MS);

	ck_assert_int_eq(rpc_pending_wait(pending, 2 * PATIENCE_MS), 1);
	return pending;
}

/* Ends |pending|, which must end with |status| and a text that contains |words|. */
static void expect_end(struct rpc_pending *pending, int status, const char *words)
{
	ck_assert_int_eq(rpc_pending_wait(pending, PATIENCE_MS), 1);
	ck_assert_str_eq(rpc_status_name(rpc_pending_get_status(pending)), rpc_status_name(status));
	ck_assert_msg(strstr(rpc_pending_get_text(pending), words), "\"%s\" lacks \"%s\"",
		rpc_pending_get_text(pending), words);
	ck_assert_ptr_null(rpc_pending_free(pending));
}

struct bytes {
	uint8_t *data;
	size_t n;
};

static int append(const uint8_t *data, size_t n, void *context)
{
	struct bytes *all = context;

	all->data = realloc(all->data, all->n + n);
	ck_assert_ptr_nonnull(all->data);
	memcpy(all->data + all->n, data, n);
	all->n += n;
	return 0;
}

/* Ends |pending|, which must be OK with these bytes. */
static void expect_reply(struct rpc_pending *pending, const void *data, size_t n)
{
	struct bytes all = {NULL, 0};

	ck_assert_int_eq(rpc_pending_wait(pending, PATIENCE_MS), 1);
	ck_assert_msg(
		rpc_pending_get_status(pending) == RPC_OK, "%s", rpc_pending_get_text(pending));
	ck_assert_uint_eq(rpc_pending_get_bytes(pending), n);
	ck_assert_int_eq(rpc_pending_read(pending, append, &all), 0);
	ck_assert_uint_eq(all.n, n);
	if (n)
		ck_assert_mem_eq(all.data, data, n);
	free(all.data);
	rpc_pending_free(pending);
}

static void reply_held(const char *text)
{
	struct chunks reply = CHUNKS_INIT;

	chunks_append(&reply, text, strlen(text));
	rpc_call_reply(t.held, &reply);
}

/* Tests. */

START_TEST(answers_with_the_bytes_it_was_sent)
{
	expect_reply(call("/t.Test/Echo", "a\0b", 3), "a\0b", 3);
	expect_reply(call("/t.Test/Echo", "again", 5), "again", 5);
}
END_TEST

START_TEST(empty_messages_are_messages)
{
	expect_reply(call("/t.Test/Echo", NULL, 0), NULL, 0);
}
END_TEST

START_TEST(unknown_method_is_unimplemented_and_told)
{
	expect_end(call("/t.Test/Nothing", "x", 1), RPC_UNIMPLEMENTED, "no such method");
	ck_assert_str_eq(t.unknown, "/t.Test/Nothing");
}
END_TEST

START_TEST(error_text_reaches_the_client)
{
	struct rpc_pending *pending = call("/t.Test/Fail", "x", 1);

	ck_assert_int_eq(rpc_pending_read(pending, append, NULL), -ENODATA);
	ck_assert_uint_eq(rpc_pending_get_bytes(pending), 0);
	expect_end(pending, RPC_INTERNAL, "Another profiling session active.");
}
END_TEST

static void *answer_held(void *unused)
{
	wait_for(&t.arrived);
	reply_held("late");
	return unused;
}

START_TEST(another_thread_may_answer_later)
{
	struct rpc_pending *pending = start("/t.Test/Hold", "x", 1, PATIENCE_MS);
	pthread_t thread;

	ck_assert_int_eq(rpc_pending_wait(pending, 0), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, answer_held, NULL), 0);
	expect_reply(pending, "late", 4);
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(other_calls_are_served_while_one_waits)
{
	struct rpc_pending *pending = start("/t.Test/Hold", "x", 1, PATIENCE_MS);

	ck_assert_int_eq(rpc_pending_wait(pending, 0), 0);
	expect_reply(call("/t.Test/Echo", "hello", 5), "hello", 5);
	wait_for(&t.arrived);
	reply_held("done");
	expect_reply(pending, "done", 4);
}
END_TEST

START_TEST(cancel_is_told_within_100_ms)
{
	struct rpc_pending *pending = start("/t.Test/HoldUntilCancel", "x", 1, PATIENCE_MS);
	int64_t start_ns;

	wait_for(&t.arrived);
	start_ns = now_ns();
	rpc_pending_cancel(pending);
	expect_end(pending, RPC_CANCELLED, "");
	wait_for(&t.cancelled);
	ck_assert_int_lt(now_ns() - start_ns, 100000000);
	ck_assert_int_eq(t.n_cancels, 1);
}
END_TEST

START_TEST(lost_connection_is_a_cancel)
{
	struct rpc_pending *pending = start("/t.Test/HoldUntilCancel", "x", 1, PATIENCE_MS);

	wait_for(&t.arrived);
	rpc_pending_free(pending);
	t.channel = rpc_channel_free(t.channel);
	wait_for(&t.cancelled);
	ck_assert_int_eq(t.n_cancels, 1);
}
END_TEST

START_TEST(late_answer_after_cancel_does_no_harm)
{
	struct rpc_pending *pending = start("/t.Test/HoldWatched", "x", 1, PATIENCE_MS);

	wait_for(&t.arrived);
	rpc_pending_cancel(pending);
	wait_for(&t.cancelled);
	expect_end(pending, RPC_CANCELLED, "");
	reply_held("nobody reads this");
	expect_reply(call("/t.Test/Echo", "alive", 5), "alive", 5);
	ck_assert_int_eq(t.n_cancels, 1);
}
END_TEST

START_TEST(answered_call_is_not_cancelled)
{
	struct rpc_pending *pending = start("/t.Test/HoldWatched", "x", 1, PATIENCE_MS);

	wait_for(&t.arrived);
	reply_held("fine");
	expect_reply(pending, "fine", 4);
	tear_down(); /* the server's thread has handled all events after this */
	ck_assert_int_eq(t.n_cancels, 0);
}
END_TEST

START_TEST(deadline_passes_on_both_sides)
{
	int64_t start_ns = now_ns();
	struct rpc_pending *pending = start("/t.Test/HoldUntilCancel", "x", 1, 300);

	wait_for(&t.arrived);
	/* The wire carries the time left, so the server's deadline is later by the way there. */
	ck_assert_int_ge(t.deadline_ns, start_ns + 250 * 1000000);
	ck_assert_int_le(t.deadline_ns, now_ns() + 350 * 1000000);
	expect_end(pending, RPC_DEADLINE_EXCEEDED, "");
	wait_for(&t.cancelled);
	ck_assert_int_ge(now_ns() - start_ns, 300 * 1000000);
}
END_TEST

START_TEST(no_deadline_is_the_largest)
{
	struct rpc_pending *pending = start("/t.Test/Hold", "x", 1, -1);

	wait_for(&t.arrived);
	ck_assert_int_eq(t.deadline_ns, INT64_MAX);
	reply_held("");
	expect_reply(pending, "", 0);
}
END_TEST

START_TEST(request_above_the_methods_limit_is_refused)
{
	uint8_t request[SMALL_BYTES + 1] = {0};

	expect_reply(call("/t.Test/Small", request, SMALL_BYTES), request, SMALL_BYTES);
	expect_end(call("/t.Test/Small", request, SMALL_BYTES + 1), RPC_RESOURCE_EXHAUSTED,
		"/t.Test/Small: the request is 17 bytes; it may have 16 at most");
}
END_TEST

START_TEST(request_above_4_mib_is_refused)
{
	uint8_t *request = calloc(1, (4u << 20) + 1);

	expect_reply(call("/t.Test/Echo", request, 4u << 20), request, 4u << 20);
	expect_end(call("/t.Test/Echo", request, (4u << 20) + 1), RPC_RESOURCE_EXHAUSTED, "");
	expect_reply(call("/t.Test/Echo", "alive", 5), "alive", 5);
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
	struct rpc_pending *pending = call("/t.Test/Large", "x", 1);
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
	struct rpc_pending *pending = call("/t.Test/Large", "x", 1);
	int n_pieces = 0;

	ck_assert_int_eq(rpc_pending_read(pending, stop_reading, &n_pieces), 42);
	ck_assert_int_eq(n_pieces, 2);
	rpc_pending_free(pending);
}
END_TEST

START_TEST(reply_above_2_gib_is_refused_with_its_size)
{
	expect_end(call("/t.Test/TooLarge", "x", 1), RPC_RESOURCE_EXHAUSTED, "2147483648 bytes");
}
END_TEST

START_TEST(half_encoded_reply_is_never_sent)
{
	expect_end(call("/t.Test/Broken", "x", 1), RPC_RESOURCE_EXHAUSTED, "out of memory");
}
END_TEST

START_TEST(stop_cancels_a_call_in_flight)
{
	struct rpc_pending *pending = start("/t.Test/HoldUntilCancel", "x", 1, PATIENCE_MS);

	wait_for(&t.arrived);
	t.server = rpc_server_free(t.server);
	ck_assert_int_eq(t.n_cancels, 1);
	expect_end(pending, RPC_UNAVAILABLE, "");
}
END_TEST

static void *answer_after_cancel(void *unused)
{
	wait_for(&t.cancelled);
	reply_held("too late");
	return unused;
}

START_TEST(stop_waits_for_the_owner_of_a_call)
{
	struct rpc_pending *pending = start("/t.Test/HoldWatched", "x", 1, PATIENCE_MS);
	pthread_t thread;

	wait_for(&t.arrived);
	ck_assert_int_eq(pthread_create(&thread, NULL, answer_after_cancel, NULL), 0);
	t.server = rpc_server_free(t.server);
	pthread_join(thread, NULL);
	expect_end(pending, RPC_UNAVAILABLE, "");
}
END_TEST

START_TEST(stop_and_start_again)
{
	for (int i = 0; i < 5; i++) {
		tear_down();
		set_up();
		expect_reply(call("/t.Test/Echo", "x", 1), "x", 1);
	}
}
END_TEST

START_TEST(connections_are_independent)
{
	struct rpc_channel *first = t.channel, *second = connect_channel();

	expect_reply(call("/t.Test/Echo", "1", 1), "1", 1);
	t.channel = second;
	expect_reply(call("/t.Test/Echo", "2", 1), "2", 1);
	t.channel = rpc_channel_free(first);
	t.channel = second;
	expect_reply(call("/t.Test/Echo", "3", 1), "3", 1);
}
END_TEST

START_TEST(peer_that_hangs_up_is_unavailable)
{
	struct diag d = DIAG_INIT;
	int fds[2];

	rpc_channel_free(t.channel);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	ck_assert_int_eq(rpc_channel_new(fds[1], "localhost:1", &t.channel, &d), 0);
	close(fds[0]);
	expect_end(call("/t.Test/Echo", "x", 1), RPC_UNAVAILABLE, "");
}
END_TEST

/* Says whether thread |tid| of this process blocks |signal|. */
static int thread_blocks(const char *tid, int signal)
{
	char path[300], line[256];
	unsigned long long mask = 0;
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%s/status", tid);
	file = fopen(path, "re");
	if (!file)
		return 1; /* gone */
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
	expect_reply(call("/t.Test/Echo", "x", 1), "x", 1);
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

static TCase *server_tests(void)
{
	TCase *tests = tcase_create("server");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_set_timeout(tests, 3 * PATIENCE_MS / 1000);
	tcase_add_test(tests, answers_with_the_bytes_it_was_sent);
	tcase_add_test(tests, empty_messages_are_messages);
	tcase_add_test(tests, unknown_method_is_unimplemented_and_told);
	tcase_add_test(tests, error_text_reaches_the_client);
	tcase_add_test(tests, another_thread_may_answer_later);
	tcase_add_test(tests, other_calls_are_served_while_one_waits);
	tcase_add_test(tests, cancel_is_told_within_100_ms);
	tcase_add_test(tests, lost_connection_is_a_cancel);
	tcase_add_test(tests, late_answer_after_cancel_does_no_harm);
	tcase_add_test(tests, answered_call_is_not_cancelled);
	tcase_add_test(tests, deadline_passes_on_both_sides);
	tcase_add_test(tests, no_deadline_is_the_largest);
	tcase_add_test(tests, request_above_the_methods_limit_is_refused);
	tcase_add_test(tests, request_above_4_mib_is_refused);
	tcase_add_test(tests, large_reply_arrives_whole);
	tcase_add_test(tests, reading_stops_when_the_reader_says_so);
	tcase_add_test(tests, reply_above_2_gib_is_refused_with_its_size);
	tcase_add_test(tests, half_encoded_reply_is_never_sent);
	tcase_add_test(tests, stop_cancels_a_call_in_flight);
	tcase_add_test(tests, stop_waits_for_the_owner_of_a_call);
	tcase_add_test(tests, stop_and_start_again);
	tcase_add_test(tests, connections_are_independent);
	tcase_add_test(tests, peer_that_hangs_up_is_unavailable);
	tcase_add_test(tests, no_thread_of_ours_takes_signals);
	return tests;
}

static TCase *status_tests(void)
{
	TCase *tests = tcase_create("status");

	tcase_add_test(tests, status_names_are_grpcs);
	return tests;
}

int main(void)
{
	Suite *suite = suite_create("rpc");
	SRunner *runner = srunner_create(suite);

	suite_add_tcase(suite, server_tests());
	suite_add_tcase(suite, status_tests());
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
