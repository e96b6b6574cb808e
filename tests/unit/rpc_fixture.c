/* SPDX-License-Identifier: Apache-2.0 */
/* A server and a client in one process; see rpc_fixture.h. */
#include "tests/unit/rpc_fixture.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/chunks.h"
#include "base/diag.h"

struct rpc_fixture rpc;

void wait_for(sem_t *semaphore)
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

void handle_echo(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	struct chunks reply = CHUNKS_INIT;

	(void)context;
	chunks_append(&reply, request, n);
	rpc_call_reply(call, &reply);
	ck_assert_ptr_null(reply.chunks);
}

void handle_hold(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	(void)request, (void)n, (void)context;
	rpc.held = call;
	rpc.deadline_ns = rpc_call_get_deadline_ns(call);
	sem_post(&rpc.arrived);
}

static void note_unknown(const char *path, void *context)
{
	ck_assert_ptr_eq(context, &rpc);
	snprintf(rpc.unknown, sizeof rpc.unknown, "%s", path);
}

struct rpc_channel *connect_channel(void)
{
	struct rpc_channel *channel = NULL;
	struct diag d = DIAG_INIT;
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	ck_assert_msg(!rpc_server_adopt(rpc.server, fds[0], &d), "%s", d.text);
	ck_assert_msg(!rpc_channel_new(fds[1], "localhost:1", &channel, &d), "%s", d.text);
	return channel;
}

void rpc_fixture_open(const struct rpc_method *methods, size_t n_methods)
{
	const struct rpc_server_config config = {
		.methods = methods,
		.n_methods = n_methods,
		.context = &rpc,
		.unknown = note_unknown,
	};
	struct diag d = DIAG_INIT;

	sem_init(&rpc.arrived, 0, 0);
	sem_init(&rpc.cancelled, 0, 0);
	ck_assert_msg(!rpc_server_new(&config, &rpc.server, &d), "%s", d.text);
	rpc.channel = connect_channel();
}

void rpc_fixture_close(void)
{
	rpc.channel = rpc_channel_free(rpc.channel);
	rpc.server = rpc_server_free(rpc.server);
}

struct rpc_pending *start_call(const char *path, const void *message, size_t n, int64_t timeout_ms)
{
	struct rpc_request request = {path, message, n, timeout_ms, 0};
	struct rpc_pending *pending = NULL;
	struct diag d = DIAG_INIT;

	ck_assert_msg(!rpc_call_start(rpc.channel, &request, &pending, &d), "%s", d.text);
	return pending;
}

struct rpc_pending *make_call(const char *path, const void *message, size_t n)
{
	struct rpc_pending *pending = start_call(path, message, n, PATIENCE_MS);

	ck_assert_int_eq(rpc_pending_wait(pending, 2 * PATIENCE_MS), 1);
	return pending;
}

/* Waits for the end of |pending|, which must have |status| and a text that contains |words|. */
void expect_end(struct rpc_pending *pending, int status, const char *words)
{
	ck_assert_int_eq(rpc_pending_wait(pending, PATIENCE_MS), 1);
	ck_assert_str_eq(rpc_status_name(rpc_pending_get_status(pending)), rpc_status_name(status));
	ck_assert_msg(strstr(rpc_pending_get_text(pending), words), "\"%s\" lacks \"%s\"",
		rpc_pending_get_text(pending), words);
	ck_assert_ptr_null(rpc_pending_free(pending));
}

/* Waits for the end of |pending|, which must be OK with these bytes. */
void expect_reply(struct rpc_pending *pending, const void *data, size_t n)
{
	uint8_t *got = malloc(n + 1);
	size_t n_got;

	ck_assert_ptr_nonnull(got);
	ck_assert_int_eq(rpc_pending_wait(pending, PATIENCE_MS), 1);
	ck_assert_msg(
		rpc_pending_get_status(pending) == RPC_OK, "%s", rpc_pending_get_text(pending));
	ck_assert_uint_eq(rpc_pending_get_bytes(pending), n);
	ck_assert_int_eq(rpc_pending_copy(pending, got, n + 1, &n_got), 0);
	ck_assert_uint_eq(n_got, n);
	if (n)
		ck_assert_mem_eq(got, data, n);
	free(got);
	rpc_pending_free(pending);
}

void reply_held(const char *text)
{
	struct chunks reply = CHUNKS_INIT;

	chunks_append(&reply, text, strlen(text));
	rpc_call_reply(rpc.held, &reply);
}
