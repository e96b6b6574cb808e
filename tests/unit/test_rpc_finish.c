/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the end of a server's process while an answer is on its way: rpc_server_finish(). */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/clock.h"
#include "base/diag.h"
#include "rpc/client.h"
#include "rpc/server.h"
#include "tests/unit/unit.h"

#define PATIENCE_MS 20000
#define ANSWER_BYTES (8u << 20)
#define HOLD_AFTER_BYTES (64u << 10)
#define NEVER (INT64_MAX / NS_PER_MS)

/*
 * A relay between client and server. In the middle of the answer it holds
 * all data once for |hold_ms|.
 */
static struct {
	struct rpc_server *server;
	struct rpc_channel *channel;
	int to_client;
	int to_server;
	int64_t hold_ms;
	unsigned pause_ms; /* after each piece of the answer */
	_Atomic int is_holding;
	pthread_t thread;
} t;

static void handle_large(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	struct chunks reply = CHUNKS_INIT;

	(void)request, (void)n, (void)context;
	ck_assert_ptr_nonnull(chunks_reserve(&reply, ANSWER_BYTES));
	chunks_commit(&reply, ANSWER_BYTES);
	rpc_call_reply(call, &reply);
}

static const struct rpc_method methods[] = {{"/t.Test/Large", 16, handle_large, RPC_UNARY}};

static ssize_t pass_on(int from, int to)
{
	char bytes[16384];
	ssize_t n = read(from, bytes, sizeof bytes);

	for (ssize_t at = 0, w; at < n; at += w) {
		w = write(to, bytes + at, (size_t)(n - at));
		if (w <= 0)
			return -1;
	}
	return n;
}

static void *relay(void *unused)
{
	int64_t hold_until_ns = 0;
	ssize_t n = 1;
	size_t total = 0;

	while (n > 0) {
		bool holds = monotonic_ns() < hold_until_ns;
		struct pollfd fds[] = {{holds ? -1 : t.to_client, POLLIN, 0},
			{holds ? -1 : t.to_server, POLLIN, 0}};

		atomic_store(&t.is_holding, holds);
		poll(fds, 2, 10);
		if (fds[0].revents)
			n = pass_on(t.to_client, t.to_server);
		if (fds[1].revents && n > 0) {
			total += (size_t)(n = pass_on(t.to_server, t.to_client));
			usleep(t.pause_ms * 1000);
		}
		if (total > HOLD_AFTER_BYTES && !hold_until_ns)
			hold_until_ns = t.hold_ms == NEVER ? INT64_MAX
							   : monotonic_ns() + t.hold_ms * NS_PER_MS;
	}
	/* Both sides see the end. */
	shutdown(t.to_client, SHUT_RDWR);
	shutdown(t.to_server, SHUT_RDWR);
	return unused;
}

static void connect_through_relay(int64_t hold_ms)
{
	const struct rpc_server_config config = {.methods = methods, .n_methods = 1};
	struct diag d = DIAG_INIT;
	int near[2];
	int far[2];

	t.hold_ms = hold_ms;
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, near), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, far), 0);
	t.to_client = near[1];
	t.to_server = far[1];
	ck_assert_int_eq(pthread_create(&t.thread, NULL, relay, NULL), 0);
	ck_assert_msg(!rpc_server_new(&config, &t.server, &d), "%s", d.text);
	ck_assert_msg(!rpc_server_adopt(t.server, far[0], &d), "%s", d.text);
	ck_assert_msg(!rpc_channel_new(near[0], "localhost:1", &t.channel, &d), "%s", d.text);
}

static void *wait_for_answer(void *pending)
{
	rpc_pending_wait(pending, PATIENCE_MS);
	return NULL;
}

/* Starts a call, and returns when its answer has begun to come and is held up. */
static struct rpc_pending *begin_call(pthread_t *waiter)
{
	struct rpc_request request = {"/t.Test/Large", (const uint8_t *)"x", 1, PATIENCE_MS, 0};
	struct rpc_pending *pending = NULL;
	struct diag d = DIAG_INIT;

	ck_assert_msg(!rpc_call_start(t.channel, &request, &pending, &d), "%s", d.text);
	ck_assert_int_eq(pthread_create(waiter, NULL, wait_for_answer, pending), 0);
	while (!atomic_load(&t.is_holding))
		usleep(1000);
	return pending;
}

static int64_t finish_ms(int grace_ms)
{
	int64_t start = monotonic_ns();

	rpc_server_finish(t.server, grace_ms);
	return (monotonic_ns() - start) / NS_PER_MS;
}

/* The reader pauses for longer than the server waits for a peer without a call. */
START_TEST(late_reader_gets_the_whole_answer)
{
	struct rpc_pending *pending;
	pthread_t waiter;

	connect_through_relay(1000);
	pending = begin_call(&waiter);
	ck_assert_int_ge(finish_ms(PATIENCE_MS), 500);
	pthread_join(waiter, NULL);
	pthread_join(t.thread, NULL);
	ck_assert_str_eq(rpc_status_name(rpc_pending_get_status(pending)), "OK");
	ck_assert_uint_eq(rpc_pending_get_bytes(pending), ANSWER_BYTES);
}
END_TEST

/*
 * The answer takes several times the server's grace period, in which the reader takes only a piece
 * of the answer.
 */
START_TEST(slow_reader_gets_the_whole_answer)
{
	struct rpc_pending *pending;
	pthread_t waiter;

	t.pause_ms = 5;
	connect_through_relay(200);
	pending = begin_call(&waiter);
	ck_assert_int_ge(finish_ms(500), 1500);
	pthread_join(waiter, NULL);
	pthread_join(t.thread, NULL);
	ck_assert_str_eq(rpc_status_name(rpc_pending_get_status(pending)), "OK");
	ck_assert_uint_eq(rpc_pending_get_bytes(pending), ANSWER_BYTES);
	t.pause_ms = 0;
}
END_TEST

START_TEST(reader_that_never_reads_is_left_after_the_grace)
{
	pthread_t waiter;
	int64_t ms;

	connect_through_relay(NEVER);
	begin_call(&waiter);
	ms = finish_ms(1000);
	ck_assert_int_ge(ms, 900);
	ck_assert_int_le(ms, 5000);
}
END_TEST

START_TEST(idle_peer_does_not_delay_the_end)
{
	connect_through_relay(0);
	ck_assert_int_le(finish_ms(PATIENCE_MS), 5000);
	pthread_join(t.thread, NULL);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(late_reader_gets_the_whole_answer),
	UNIT_TEST(slow_reader_gets_the_whole_answer),
	UNIT_TEST(reader_that_never_reads_is_left_after_the_grace),
	UNIT_TEST(idle_peer_does_not_delay_the_end),
	{NULL},
};

UNIT_MAIN("rpc_finish", .timeout_s = 2 * PATIENCE_MS / 1000, .tests = tests)
