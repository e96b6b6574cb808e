/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gRPC server: two completion queues, a thread for each. One carries the events of calls; its thread outlives every
 * call, because a batch that is started after the queue was shut down aborts the process. The other one only reads and
 * writes the connections: were it one thread for both, it would take in whatever a peer sends, without an end, before
 * the events of the first call were looked at.
 */
#include "rpc/server.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <grpc/grpc.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/futex.h"
#include "rpc/adopted.h"
#include "rpc/call.h"
#include "rpc/core_server.h"
#include "rpc/engine.h"
#include "rpc/handoff.h"
#include "rpc/keys.h"
#include "rpc/socket.h"

/* rpc_server_finish(): how often it looks, and how long it waits for peers that have their answers. */
#define LOOK_MS 20
#define IDLE_GRACE_MS 500
#define PROGRESS_BYTES \
	4096 /* a peer that takes less of an answer in its time only keeps the connection up */

struct rpc_server {
	struct rpc_server_config config;
	struct call_host host;
	grpc_server_credentials *credentials;
	struct tag shut_down;
	bool is_shut_down; /* server's thread */
	_Atomic uint32_t has_ended; /* it has; a futex */
	pthread_t thread;
	grpc_completion_queue *io_queue; /* has no events */
	pthread_t io_thread;
	bool has_io_thread;
	struct adopted adopted; /* one thread adopts and finishes */
};

static void on_shut_down(struct tag *tag, bool ok)
{
	struct rpc_server *server =
		(struct rpc_server *)((char *)tag - offsetof(struct rpc_server, shut_down));

	(void)ok;
	server->is_shut_down = true;
}

static bool is_finished(const struct rpc_server *server)
{
	return server->is_shut_down && !server->host.n_live && !server->host.armed;
}

static void *serve(void *argument)
{
	struct rpc_server *server = argument;

	call_arm(&server->host);
	while (!is_finished(server)) {
		grpc_event event = grpc_completion_queue_next(
			server->host.queue, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
		struct tag *tag = event.tag;

		handoff_take(tag);
		tag->done(tag, event.success);
	}
	atomic_store(&server->has_ended, 1);
	futex_wake(&server->has_ended, 1);
	return NULL;
}

/* Ends when the queue is shut down. */
static void *do_io(void *argument)
{
	grpc_completion_queue *queue = argument;

	while (grpc_completion_queue_next(queue, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL).type !=
		GRPC_QUEUE_SHUTDOWN)
		;
	return NULL;
}

static grpc_completion_queue *create_call_queue(void)
{
	grpc_completion_queue_attributes attributes = {.version = 1,
		.cq_completion_type = GRPC_CQ_NEXT,
		.cq_polling_type = GRPC_CQ_NON_POLLING};

	return grpc_completion_queue_create(
		grpc_completion_queue_factory_lookup(&attributes), &attributes, NULL);
}

static void start_grpc(struct rpc_server *server)
{
	engine_start();
	server->host.config = &server->config;
	if (server->config.role)
		server->host.role = (grpc_metadata){
			.key = grpc_slice_from_static_string(ROLE_KEY),
			.value = grpc_slice_from_static_string(server->config.role),
		};
	server->host.server = core_server_new();
	server->host.queue = create_call_queue();
	server->io_queue = grpc_completion_queue_create_for_next(NULL);
	grpc_server_register_completion_queue(server->host.server, server->host.queue, NULL);
	grpc_server_register_completion_queue(server->host.server, server->io_queue, NULL);
	server->credentials = grpc_insecure_server_credentials_create();
	server->shut_down.done = on_shut_down;
	grpc_server_start(server->host.server);
}

/* After shutdown was notified and the calls' thread, if there was one, has ended. */
static void destroy_grpc(struct rpc_server *server)
{
	grpc_server_destroy(server->host.server);
	grpc_completion_queue_shutdown(server->host.queue);
	do_io(server->host.queue);
	grpc_completion_queue_destroy(server->host.queue);
	grpc_completion_queue_shutdown(server->io_queue);
	if (server->has_io_thread)
		pthread_join(server->io_thread, NULL);
	else
		do_io(server->io_queue);
	grpc_completion_queue_destroy(server->io_queue);
	grpc_server_credentials_release(server->credentials);
	conduct_deinit(&server->host.conduct);
	engine_stop();
}

static struct rpc_server *destroy_and_free(struct rpc_server *server)
{
	destroy_grpc(server);
	adopted_deinit(&server->adopted);
	free(server);
	return NULL;
}

static void begin_shutdown(struct rpc_server *server)
{
	grpc_server_shutdown_and_notify(
		server->host.server, server->host.queue, &server->shut_down);
	grpc_server_cancel_all_calls(server->host.server);
}

static int start_threads(struct rpc_server *server)
{
	int r = pthread_create(&server->io_thread, NULL, do_io, server->io_queue);

	if (r)
		return r;
	server->has_io_thread = true;
	pthread_setname_np(server->io_thread, "ptap-rpc-io");
	r = pthread_create(&server->thread, NULL, serve, server);
	if (r == 0)
		pthread_setname_np(server->thread, "ptap-rpc");
	return r;
}

/* The server never served: its own loop is run here, to see the shutdown's event. */
static void abandon(struct rpc_server *server)
{
	begin_shutdown(server);
	serve(server);
	destroy_and_free(server);
}

int rpc_server_new(const struct rpc_server_config *config, struct rpc_server **out, struct diag *d)
{
	struct rpc_server *server = calloc(1, sizeof *server);
	_signals_blocked_ sigset_t old = signals_block();
	int r;

	if (!server)
		return diag_set(d, -ENOMEM, "gRPC server: out of memory");
	server->config = *config;
	start_grpc(server);
	r = start_threads(server);
	if (r) {
		abandon(server);
		return diag_set(d, -r, "gRPC server: no thread: %s; raise the limit on processes",
			errno_words(r));
	}
	*out = server;
	return 0;
}

struct rpc_server *rpc_server_free(struct rpc_server *server)
{
	_signals_blocked_ sigset_t old = signals_block();

	if (!server)
		return NULL;
	begin_shutdown(server);
	pthread_join(server->thread, NULL);
	return destroy_and_free(server);
}

/* Waits up to |wait_ms| for the server's thread to end. */
static bool has_ended(struct rpc_server *server, int wait_ms)
{
	int64_t give_up_ns = monotonic_ns() + wait_ms * NS_PER_MS;

	while (!atomic_load(&server->has_ended) && monotonic_ns() < give_up_ns)
		futex_wait_until(&server->has_ended, 0, give_up_ns);
	return atomic_load(&server->has_ended);
}

/*
 * Waits until every answer is with its peer's kernel, as long as peers take something within |grace_ms|. gRPC must not begin to
 * shut down before: it closes a connection as soon as the last bytes are in the socket, and if the peer has sent anything
 * since, the kernel then drops what the peer has not taken. Twice nothing: gRPC may be about to fill a socket that was just
 * emptied.
 */
static void deliver(struct rpc_server *server, int grace_ms)
{
	uint64_t n_moved = 0;
	uint64_t n_seen = 0;
	int n_quiet = 0;

	for (int ms = 0; ms < grace_ms && n_quiet < 2; ms += LOOK_MS) {
		size_t n_asked = server->host.n_asked;
		bool is_sending = adopted_is_sending(&server->adopted, &n_moved);

		n_quiet = server->host.n_live <= n_asked && !is_sending ? n_quiet + 1 : 0;
		if (n_moved - n_seen >= PROGRESS_BYTES) {
			n_seen = n_moved;
			ms = 0;
		}
		usleep(LOOK_MS * 1000);
	}
}

/* Most peers hang up when they are told to; one that does not gets half a second. */
void rpc_server_finish(struct rpc_server *server, int grace_ms)
{
	_signals_blocked_ sigset_t old = signals_block();

	if (!server)
		return;
	deliver(server, grace_ms);
	grpc_server_shutdown_and_notify(
		server->host.server, server->host.queue, &server->shut_down);
	if (!has_ended(server, IDLE_GRACE_MS)) {
		grpc_server_cancel_all_calls(server->host.server);
		/* gRPC would wait for ever until a full socket takes the rest. */
		adopted_hang_up(&server->adopted);
	}
	pthread_join(server->thread, NULL);
}

int rpc_server_adopt(struct rpc_server *server, int fd, struct diag *d)
{
	_signals_blocked_ sigset_t old = signals_block();
	int r = socket_prepare(fd);

	if (!r)
		r = adopted_add(&server->adopted, fd);
	if (r < 0) {
		close(fd);
		return diag_set(d, r, "connection not served: %s", errno_words(r));
	}
	socket_limit_unread(fd);
	grpc_server_add_channel_from_fd(server->host.server, fd, server->credentials);
	return 0;
}
