/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gRPC server: two completion queues with a thread each. One queue carries the events of calls;
 * its thread outlives every call, because starting a batch after the queue was shut down aborts the
 * process. The other one only reads and writes the connections: with one thread for both, gRPC
 * would read without end from a peer that sends without end, before the events of the first call
 * were handled.
 */
#include "rpc/server.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <grpc/grpc.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/futex.h"
#include "base/grow.h"
#include "rpc/call.h"
#include "rpc/engine.h"
#include "rpc/handoff.h"
#include "rpc/socket.h"

/* --- Connections that gRPC was given --------------------------------------------------------- */

/*
 * Connections that gRPC has not closed yet. gRPC considers an answer sent when the socket has it;
 * only the kernel knows whether the peer has it. Zero is the state without connections. Used by one
 * thread at a time.
 */
struct adopted {
	struct adopted_socket *sockets;
	size_t n;
	size_t n_allocated;
};

struct adopted_socket {
	int fd;
	ino_t inode; /* changes when |fd| is closed and reused */
	uint64_t n_acked; /* TCP only: bytes that the peer had acknowledged at the last check */
	int n_left; /* bytes that the peer had not acknowledged then */
};

static void adopted_forget_closed(struct adopted *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++)
		if (socket_find_inode(a->sockets[i].fd) == a->sockets[i].inode)
			a->sockets[n++] = a->sockets[i];
	a->n = n;
}

static int adopted_add(struct adopted *a, int fd)
{
	adopted_forget_closed(a);
	if (grow(&a->sockets, &a->n_allocated, a->n + 1))
		return -ENOMEM;
	a->sockets[a->n++] = (struct adopted_socket){.fd = fd, .inode = socket_find_inode(fd)};
	return 0;
}

/*
 * Returns the bytes that the peer took since the last check. The kernel counts them for TCP; of
 * other sockets only the unsent rest is known.
 */
static uint64_t adopted_count_taken(const struct adopted_socket *s, int n_left)
{
	struct tcp_info info = {.tcpi_bytes_acked = 0};
	socklen_t n = sizeof info;

	if (getsockopt(s->fd, IPPROTO_TCP, TCP_INFO, &info, &n) == 0)
		return info.tcpi_bytes_acked - s->n_acked;
	return (uint64_t)llabs((long long)n_left - s->n_left);
}

static bool adopted_is_sending(struct adopted *a, uint64_t *n_moved)
{
	bool is_sending = false;

	adopted_forget_closed(a);
	for (size_t i = 0; i < a->n; i++) {
		struct adopted_socket *s = &a->sockets[i];
		uint64_t n_taken;
		int n_left = 0;

		if (ioctl(s->fd, SIOCOUTQ, &n_left) < 0)
			continue;
		n_taken = adopted_count_taken(s, n_left);
		s->n_acked += n_taken;
		s->n_left = n_left;
		*n_moved += n_taken;
		is_sending = is_sending || n_left > 0;
	}
	return is_sending;
}

static void adopted_hang_up(struct adopted *a)
{
	adopted_forget_closed(a);
	for (size_t i = 0; i < a->n; i++)
		shutdown(a->sockets[i].fd, SHUT_RDWR);
}

static void adopted_deinit(struct adopted *a)
{
	free(a->sockets);
	memset(a, 0, sizeof *a);
}

/* --- gRPC's server object -------------------------------------------------------------------- */

/*
 * The memory quota. gRPC exceeds it by the streams that one read opens: each takes a few bytes of
 * the read and 13 KiB of memory. On a busy machine this quota alone bounds the streams that a peer
 * opens before the calls' thread runs and hangs up.
 */
#define QUOTA_BYTES (16u << 20)
#define MAX_STREAMS 16
#define IDLE_MS 60000

/*
 * The receive limit alone does not bound memory: gRPC checks it when the whole message is there,
 * and after decompression. The quota and the refusal of compressed requests bound it.
 */
static grpc_server *core_server_new(void)
{
	grpc_resource_quota *quota = grpc_resource_quota_create("ptap");
	grpc_arg list[] = {
		arg_int(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, 4 << 20),
		arg_int(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, -1),
		arg_int(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0),
		arg_int(GRPC_ARG_MAX_CONCURRENT_STREAMS, MAX_STREAMS),
		/* A call in flight is not idle. */
		arg_int(GRPC_ARG_MAX_CONNECTION_IDLE_MS, IDLE_MS),
		/* Clients with keep-alive on a quiet Profile call are not abusive. */
		arg_int(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000),
		arg_int(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0),
		arg_int(GRPC_ARG_ALLOW_REUSEPORT, 0),
		arg_quota(quota),
	};
	grpc_channel_args args = {sizeof list / sizeof list[0], list};
	grpc_server *server;

	grpc_resource_quota_resize(quota, QUOTA_BYTES);
	server = grpc_server_create(&args, NULL);
	grpc_resource_quota_unref(quota);
	return server;
}

/* --- The server ------------------------------------------------------------------------------ */

/*
 * rpc_server_finish(): the interval of its checks, and how long it waits for peers that have their
 * answers.
 */
#define POLL_MS 20
#define IDLE_GRACE_MS 500
#define PROGRESS_BYTES \
	4096 /* a peer that takes less within the grace time only keeps the connection open */

struct rpc_server {
	struct rpc_server_config config;
	struct call_host host;
	grpc_server_credentials *credentials;
	struct tag shut_down;
	bool is_shut_down; /* server's thread */
	_Atomic uint32_t has_ended; /* a futex */
	pthread_t thread;
	grpc_completion_queue *io_queue; /* has no events */
	pthread_t io_thread;
	bool has_io_thread;
	struct adopted adopted; /* used by rpc_server_adopt() and rpc_server_finish() */
};

static void server_on_shut_down(struct tag *tag, bool ok)
{
	struct rpc_server *server =
		(struct rpc_server *)((char *)tag - offsetof(struct rpc_server, shut_down));

	(void)ok;
	server->is_shut_down = true;
}

static bool server_is_finished(const struct rpc_server *server)
{
	return server->is_shut_down && !server->host.n_live && !server->host.armed;
}

static void *server_run_calls(void *argument)
{
	struct rpc_server *server = argument;

	call_arm(&server->host);
	while (!server_is_finished(server)) {
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

/*
 * Reads and writes the connections, or only empties a queue, until |argument|, a queue, is shut
 * down.
 */
static void *server_run_io(void *argument)
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

static void server_start_grpc(struct rpc_server *server)
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
	server->shut_down.done = server_on_shut_down;
	grpc_server_start(server->host.server);
}

/* Call it after shutdown was notified and the calls' thread, if there was one, has ended. */
static void server_destroy_grpc(struct rpc_server *server)
{
	grpc_server_destroy(server->host.server);
	grpc_completion_queue_shutdown(server->host.queue);
	server_run_io(server->host.queue);
	grpc_completion_queue_destroy(server->host.queue);
	grpc_completion_queue_shutdown(server->io_queue);
	if (server->has_io_thread)
		pthread_join(server->io_thread, NULL);
	else
		server_run_io(server->io_queue);
	grpc_completion_queue_destroy(server->io_queue);
	grpc_server_credentials_release(server->credentials);
	peer_limits_deinit(&server->host.limits);
	engine_stop();
}

static struct rpc_server *server_destroy(struct rpc_server *server)
{
	server_destroy_grpc(server);
	adopted_deinit(&server->adopted);
	free(server);
	return NULL;
}

static void server_begin_shutdown(struct rpc_server *server)
{
	grpc_server_shutdown_and_notify(
		server->host.server, server->host.queue, &server->shut_down);
	grpc_server_cancel_all_calls(server->host.server);
}

static int server_start_threads(struct rpc_server *server)
{
	int r = pthread_create(&server->io_thread, NULL, server_run_io, server->io_queue);

	if (r)
		return r;
	server->has_io_thread = true;
	pthread_setname_np(server->io_thread, "ptap-rpc-io");
	r = pthread_create(&server->thread, NULL, server_run_calls, server);
	if (r == 0)
		pthread_setname_np(server->thread, "ptap-rpc");
	return r;
}

/* Frees a server whose thread never ran: runs its loop here, which sees the shutdown's event. */
static void server_abandon(struct rpc_server *server)
{
	server_begin_shutdown(server);
	server_run_calls(server);
	server_destroy(server);
}

int rpc_server_new(const struct rpc_server_config *config, struct rpc_server **out, struct diag *d)
{
	struct rpc_server *server = calloc(1, sizeof *server);
	_signals_blocked_ sigset_t old = signals_block();
	int r;

	if (!server)
		return diag_set(d, -ENOMEM, "gRPC server: out of memory");
	server->config = *config;
	server_start_grpc(server);
	r = server_start_threads(server);
	if (r) {
		server_abandon(server);
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
	server_begin_shutdown(server);
	pthread_join(server->thread, NULL);
	return server_destroy(server);
}

/* Waits up to |wait_ms| for the server's thread to end. */
static bool server_await_end(struct rpc_server *server, int wait_ms)
{
	int64_t give_up_ns = monotonic_ns() + wait_ms * NS_PER_MS;

	while (!atomic_load(&server->has_ended) && monotonic_ns() < give_up_ns)
		futex_wait_until(&server->has_ended, 0, give_up_ns);
	return atomic_load(&server->has_ended);
}

/*
 * Waits until every answer is with its peer's kernel, as long as peers take something within
 * |grace_ms|. gRPC must not begin to shut down earlier: it closes a connection as soon as the last
 * bytes are in the socket, and if the peer has sent anything since, the kernel then drops the bytes
 * that the peer has not taken. Two quiet checks in a row are needed, because gRPC may be about to
 * fill a socket that was just emptied.
 */
static void server_deliver(struct rpc_server *server, int grace_ms)
{
	uint64_t n_moved = 0;
	uint64_t n_seen = 0;
	int n_quiet = 0;

	for (int ms = 0; ms < grace_ms && n_quiet < 2; ms += POLL_MS) {
		size_t n_asked = server->host.n_asked;
		bool is_sending = adopted_is_sending(&server->adopted, &n_moved);

		n_quiet = server->host.n_live <= n_asked && !is_sending ? n_quiet + 1 : 0;
		if (n_moved - n_seen >= PROGRESS_BYTES) {
			n_seen = n_moved;
			ms = 0;
		}
		usleep(POLL_MS * 1000);
	}
}

/* Most peers hang up when the server tells them to; the others get half a second. */
void rpc_server_finish(struct rpc_server *server, int grace_ms)
{
	_signals_blocked_ sigset_t old = signals_block();

	if (!server)
		return;
	server_deliver(server, grace_ms);
	grpc_server_shutdown_and_notify(
		server->host.server, server->host.queue, &server->shut_down);
	if (!server_await_end(server, IDLE_GRACE_MS)) {
		grpc_server_cancel_all_calls(server->host.server);
		/*
		 * Otherwise gRPC would wait until a full socket takes the rest, possibly for ever.
		 */
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
