/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the client's limits on an answer that is slow, or stops in the middle:
 * client/capture/recording_call.h.
 */
#include <arpa/inet.h>
#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "client/capture/recording_call.h"
#include "client/connect/exchange.h"
#include "client/process/exit.h"
#include "client/target/address.h"
#include "rpc/client.h"
#include "rpc/server.h"
#include "tests/unit/unit.h"

#define CHUNK_BYTES (1u << 20)
#define N_CHUNKS 2
#define ANSWER_BYTES (N_CHUNKS * CHUNK_BYTES)
#define PIECE_BYTES 16384
#define PAUSE_MS 25 /* after each piece: a chunk takes longer than LIMIT_MS, a piece far less */
#define LIMIT_MS 1000
#define PATIENCE_MS 20000
#define NO_STOP SIZE_MAX

/* A server behind a slow connection, which delivers nothing after |stop_after| bytes. */
static struct {
	struct rpc_server *server;
	int listener;
	int to_client;
	int to_server;
	size_t stop_after;
	pthread_t thread;
} t;

static uint8_t trace[ANSWER_BYTES];
static size_t n_written; /* bytes that the client has written */

static void reply_whole(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	struct chunks reply = CHUNKS_INIT;

	(void)request, (void)n, (void)context;
	ck_assert_ptr_nonnull(chunks_reserve(&reply, ANSWER_BYTES));
	chunks_commit(&reply, ANSWER_BYTES);
	rpc_call_reply(call, &reply);
}

/* Sends a CaptureReply in which the part |field| has these bytes. */
static void send_part(struct rpc_call *call, uint8_t field, const uint8_t *data, size_t n)
{
	struct chunks message = CHUNKS_INIT;
	uint8_t *p = chunks_reserve(&message, n + 5);

	ck_assert_ptr_nonnull(p);
	p[0] = (uint8_t)(field << 3 | 2);
	for (int i = 0; i < 4; i++)
		p[1 + i] = (uint8_t)((n >> 7 * i & 0x7f) | (i < 3 ? 0x80 : 0));
	memcpy(p + 5, data, n);
	chunks_commit(&message, n + 5);
	rpc_call_write(call, &message, PATIENCE_MS);
}

static void *send_stream(void *arg)
{
	/*
	 * The progress has the phase "collecting", and 2 MiB as the size. The trailer has
	 * the same size, and the hash.
	 */
	static const uint8_t progress[] = {0x08, 2, 0x28, 0x80, 0x80, 0x80, 0x01};
	uint8_t trailer[5 + 1 + 8] = {0x08, 0x80, 0x80, 0x80, 0x01, 0x11};
	uint64_t hash = XXH3_64bits(trace, sizeof trace);

	memcpy(trailer + 6, &hash, sizeof hash);
	send_part(arg, 1, progress, sizeof progress);
	for (size_t i = 0; i < N_CHUNKS; i++)
		send_part(arg, 2, trace + i * CHUNK_BYTES, CHUNK_BYTES);
	send_part(arg, 3, trailer, sizeof trailer);
	rpc_call_finish(arg, RPC_OK, "");
	return NULL;
}

static void begin_stream(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	pthread_t thread;

	(void)request, (void)n, (void)context;
	ck_assert_int_eq(pthread_create(&thread, NULL, send_stream, call), 0);
	pthread_detach(thread);
}

static const struct rpc_method methods[] = {
	{PROFILE_PATH, 16, reply_whole, RPC_UNARY},
	{CAPTURE_PATH, 16, begin_stream, RPC_SERVER_STREAM},
};

static ssize_t pass_on(int from, int to)
{
	char bytes[PIECE_BYTES];
	ssize_t n = read(from, bytes, sizeof bytes);

	for (ssize_t at = 0, w; at < n; at += w) {
		w = send(to, bytes + at, (size_t)(n - at), MSG_NOSIGNAL);
		if (w <= 0)
			return -1;
	}
	return n;
}

static void *relay(void *unused)
{
	size_t total = 0;
	ssize_t n = 1;

	t.to_client = accept(t.listener, NULL, NULL);
	while (n > 0) {
		struct pollfd fds[] = {{t.to_client, POLLIN, 0},
			{total >= t.stop_after ? -1 : t.to_server, POLLIN, 0}};

		poll(fds, 2, -1);
		if (fds[0].revents)
			n = pass_on(t.to_client, t.to_server);
		if (fds[1].revents && n > 0) {
			n = pass_on(t.to_server, t.to_client);
			total += n > 0 ? (size_t)n : 0;
			usleep(PAUSE_MS * 1000);
		}
	}
	close(t.to_client);
	shutdown(t.to_server, SHUT_RDWR);
	return unused;
}

static uint16_t start_server(void)
{
	const struct rpc_server_config config = {.methods = methods, .n_methods = 2};
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof a;
	struct diag d = DIAG_INIT;
	int far[2];

	t.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(t.listener, (struct sockaddr *)&a, sizeof a), 0);
	ck_assert_int_eq(listen(t.listener, 1), 0);
	ck_assert_int_eq(getsockname(t.listener, (struct sockaddr *)&a, &size), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, far), 0);
	t.to_server = far[1];
	ck_assert_msg(!rpc_server_new(&config, &t.server, &d), "%s", d.text);
	ck_assert_msg(!rpc_server_adopt(t.server, far[0], &d), "%s", d.text);
	ck_assert_int_eq(pthread_create(&t.thread, NULL, relay, NULL), 0);
	return ntohs(a.sin_port);
}

static int count(const uint8_t *data, size_t n, void *context)
{
	(void)data, (void)context;
	n_written += n;
	return 0;
}

/* Returns the exit code, and in |*limit_ms| the final limit. */
static int record(const struct recording_methods *calls, int64_t silence_ms, size_t stop_after,
	int64_t *limit_ms, struct diag *d)
{
	struct recording_call r = RECORDING_CALL_INIT;
	struct address address;
	struct recording_request q = {.address = &address,
		.calls = calls,
		.capture = (const uint8_t *)"",
		.profile = (const uint8_t *)"",
		.write = count,
		.session_id = "s",
		.timeout_ms = LIMIT_MS,
		.silence_ms = silence_ms};
	char text[32];
	int code;

	t.stop_after = stop_after;
	snprintf(text, sizeof text, "127.0.0.1:%u", start_server());
	ck_assert_int_eq(address_parse(text, NULL, &address, d), 0);
	ck_assert_msg(recording_call_connect(&r, &address, d) == EXIT_DONE, "%s", d->text);
	ck_assert_msg(recording_call_start(&r, &q, d) == EXIT_DONE, "%s", d->text);
	while (!recording_call_poll(&r, &q, 50))
		;
	code = recording_call_finish(&r, &q, d);
	*limit_ms = r.limit_ms;
	if (code == EXIT_DONE && !r.is_stream)
		n_written = rpc_pending_get_bytes(r.call);
	recording_call_deinit(&r);
	pthread_join(t.thread, NULL);
	close(t.listener);
	rpc_server_finish(t.server, 100);
	return code;
}

static const struct recording_methods calls[] = {
	{.stream = CAPTURE_PATH},
	{.unary = {PROFILE_PATH}},
};

START_TEST(our_own_limit_moves_with_the_bytes)
{
	struct diag d = DIAG_INIT;
	int64_t limit_ms;

	ck_assert_msg(
		record(&calls[_i], LIMIT_MS, NO_STOP, &limit_ms, &d) == EXIT_DONE, "%s", d.text);
	ck_assert_uint_eq(n_written, ANSWER_BYTES);
	ck_assert_int_gt(limit_ms, 2 * LIMIT_MS);
}
END_TEST

START_TEST(an_answer_that_stops_is_given_up)
{
	struct diag d = DIAG_INIT;
	int64_t limit_ms;

	ck_assert_int_eq(
		record(&calls[_i], LIMIT_MS, ANSWER_BYTES / 4, &limit_ms, &d), EXIT_TIMEOUT);
	ck_assert_ptr_nonnull(strstr(d.text, "timed out: no whole answer within "));
	ck_assert_int_gt(limit_ms, LIMIT_MS);
}
END_TEST

START_TEST(a_limit_that_the_user_gave_stays)
{
	struct diag d = DIAG_INIT;
	int64_t limit_ms;

	ck_assert_int_eq(record(&calls[_i], 0, NO_STOP, &limit_ms, &d), EXIT_TIMEOUT);
	ck_assert_int_eq(limit_ms, LIMIT_MS);
	ck_assert_ptr_nonnull(strstr(d.text, "no whole answer within 1000 ms"));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(our_own_limit_moves_with_the_bytes, 2),
	UNIT_LOOP(an_answer_that_stops_is_given_up, 2),
	UNIT_LOOP(a_limit_that_the_user_gave_stays, 2),
	{NULL},
};

UNIT_MAIN("slow_answer", .timeout_s = 2 * PATIENCE_MS / 1000, .tests = tests)
