/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures streams through a host daemon, from programs that consist of their servers alone: each
 * announces itself, and answers Capture with a given number of bytes, in parts like those of a
 * trace. So this measures the daemon, not the making of traces.
 *
 * usage: bench_passing PORT REGISTRY N_PROGRAMS MB
 *
 * PORT and REGISTRY are the daemon's; with PORT 0 there is no daemon, and each program's server is
 * called directly. Prints "ready", and begins when a line comes; then prints the seconds from the
 * first call to the last byte, and the number of bytes.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/clock.h"
#include "base/diag.h"
#include "daemon/kernel/unix_peer.h"
#include "daemon/serve/children/announcement.h"
#include "daemon/serve/message/trace_part.h"
#include "rpc/client.h"
#include "rpc/server.h"
#include "tests/bench/profile.h"

#define CAPTURE "/proftap.v1.Profiler/Capture"
#define MAX_PROGRAMS 512
#define PATIENCE_MS 60000

static uint64_t n_bytes_each;
static int port;
static uint8_t part[TRACE_PART_BYTES];

/* A program's server. */

static void give_back(void *lender)
{
	(void)lender;
}

static void *stream(void *argument)
{
	struct rpc_call *call = argument;
	uint64_t left = n_bytes_each;
	char target[TRACE_PART_WORD_BYTES];
	int r = 0;

	rpc_call_get_target(call, target, sizeof target);
	while (left && !r) {
		struct chunks message = CHUNKS_INIT;
		size_t n = trace_part_find_bytes(target);

		if (n > left)
			n = (size_t)left;
		trace_part_add_head(&message, n);
		chunks_lend(&message, part, n, give_back, NULL);
		r = rpc_call_write(call, &message, PATIENCE_MS);
		left -= n;
	}
	rpc_call_finish(call, r ? RPC_UNAVAILABLE : RPC_OK, "");
	return NULL;
}

static void handle_capture(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	pthread_t thread;

	(void)bytes, (void)n, (void)context;
	if (pthread_create(&thread, NULL, stream, call))
		rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED, "no thread");
	else
		pthread_detach(thread);
}

static const struct rpc_method methods[] = {{CAPTURE, 4096, handle_capture, RPC_SERVER_STREAM}};

static struct rpc_server *start_server(void)
{
	const struct rpc_server_config config = {.methods = methods, .n_methods = 1};
	struct rpc_server *server = NULL;
	struct diag d = DIAG_INIT;

	if (rpc_server_new(&config, &server, &d))
		fprintf(stderr, "%s\n", d.text);
	return server;
}

static int announce(const char *registry)
{
	char address[256];
	struct announcement own = {.kind = ANNOUNCEMENT_PROGRAM,
		.status = {.pid = getpid(), .uid = getuid(), .name = "stand-in"}};
	int fd;

	snprintf(address, sizeof address, "unix:%s", registry);
	own.fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	fd = unix_peer_connect_messages(address);
	if (fd < 0 || announcement_send(fd, &own)) {
		fprintf(stderr, "%s: cannot announce\n", registry);
		_exit(1);
	}
	return fd;
}

/* Serves until the daemon ends. */
static void obey(struct rpc_server *server, int registry)
{
	struct pollfd poll_fd = {.fd = registry, .events = POLLIN};
	struct announcement order;
	struct diag d = DIAG_INIT;

	while (poll(&poll_fd, 1, -1) > 0) {
		int r = announcement_receive(registry, &order);

		if (r == 1 && order.kind == ANNOUNCEMENT_CHANNEL)
			rpc_server_adopt(server, order.fd, &d);
		else if (r == 1)
			announcement_send(
				registry, &(struct announcement){.kind = ANNOUNCEMENT_PROGRAM,
						  .status = {.pid = getpid(), .uid = getuid()},
						  .fd = -1});
		else
			return;
	}
}

static void be_program(const char *registry, int direct)
{
	struct rpc_server *server;
	struct diag d = DIAG_INIT;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	server = start_server();
	if (server && port)
		obey(server, announce(registry));
	else if (server && !rpc_server_adopt(server, direct, &d))
		pause();
	_exit(1);
}

/* The reader of the streams. */

struct reading {
	pthread_t thread;
	pid_t pid;
	int direct;
	uint64_t n_bytes;
};

static struct rpc_channel *open_channel(const struct reading *r)
{
	struct rpc_channel *channel = NULL;
	struct diag d = DIAG_INIT;
	char pid[16];

	if (!port)
		return rpc_channel_new(r->direct, "localhost", &channel, &d) ? NULL : channel;
	channel = profile_open(port);
	snprintf(pid, sizeof pid, "%d", (int)r->pid);
	if (channel)
		rpc_channel_set_target(channel, pid);
	return channel;
}

static void *read_all(void *argument)
{
	struct reading *r = argument;
	const struct rpc_request request = {.path = CAPTURE,
		.message = (const uint8_t *)"",
		.timeout_ms = -1,
		.max_reply_bytes = 2 * TRACE_PART_BYTES};
	struct rpc_channel *channel = open_channel(r);
	struct rpc_pending *call = NULL;
	struct diag d = DIAG_INIT;

	if (channel && !rpc_stream_start(channel, &request, &call, &d))
		while (!rpc_pending_has_ended(call))
			if (rpc_pending_next(call, PATIENCE_MS))
				r->n_bytes += rpc_pending_get_bytes(call);
	if (call && rpc_pending_get_status(call) != RPC_OK)
		fprintf(stderr, "%d: %s\n", (int)r->pid, rpc_pending_get_text(call));
	rpc_pending_free(call);
	rpc_channel_free(channel);
	return NULL;
}

static void start_programs(struct reading *readings, int n, const char *registry)
{
	for (int i = 0; i < n; i++) {
		int ends[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
			exit(1);
		readings[i].direct = ends[0];
		readings[i].pid = fork();
		if (readings[i].pid == 0)
			be_program(registry, ends[1]);
		close(ends[1]);
	}
}

static uint64_t read_programs(struct reading *readings, int n)
{
	uint64_t n_bytes = 0;

	for (int i = 0; i < n; i++)
		if (pthread_create(&readings[i].thread, NULL, read_all, &readings[i]))
			exit(1);
	for (int i = 0; i < n; i++) {
		pthread_join(readings[i].thread, NULL);
		n_bytes += readings[i].n_bytes;
	}
	return n_bytes;
}

int main(int argc, char **argv)
{
	static struct reading readings[MAX_PROGRAMS];
	int n = argc == 5 ? atoi(argv[3]) : 0;
	int64_t start_ns;
	uint64_t n_bytes;

	if (n < 1 || n > MAX_PROGRAMS)
		return 2;
	port = atoi(argv[1]);
	n_bytes_each = strtoull(argv[4], NULL, 10) * (1u << 20);
	start_programs(readings, n, argv[2]);
	puts("ready");
	fflush(stdout);
	getchar();
	start_ns = monotonic_ns();
	n_bytes = read_programs(readings, n);
	printf("%.3f %llu\n", (double)(monotonic_ns() - start_ns) / 1e9,
		(unsigned long long)n_bytes);
	for (int i = 0; i < n; i++)
		kill(readings[i].pid, SIGKILL);
	while (wait(NULL) > 0)
		;
	return n_bytes < n_bytes_each * (uint64_t)n;
}
