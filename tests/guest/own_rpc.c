/* SPDX-License-Identifier: Apache-2.0 */
/* A program that is itself a gRPC server and client, with the system's shared C-core. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "rpc/client.h"
#include "rpc/server.h"
#include "tests/guest/guest.h"

#define N_CALLS 50

static void handle_echo(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	struct chunks reply = CHUNKS_INIT;
	PTAP_SPAN("served");

	(void)context;
	chunks_append(&reply, request, n);
	rpc_call_reply(call, &reply);
}

static const struct rpc_method methods[] = {{"/host.Own/Echo", 4096, handle_echo, RPC_UNARY}};

static uint64_t call(struct rpc_channel *channel)
{
	PTAP_SPAN("called");
	struct rpc_request request = {"/host.Own/Echo", (const uint8_t *)"hello", 5, 10000, 0};
	struct rpc_pending *pending = NULL;
	struct diag d = DIAG_INIT;
	uint64_t n = 0;

	if (rpc_call_start(channel, &request, &pending, &d))
		return 0;
	if (rpc_pending_wait(pending, -1) && rpc_pending_get_status(pending) == RPC_OK)
		n = rpc_pending_get_bytes(pending);
	rpc_pending_free(pending);
	return n;
}

int main(void)
{
	const struct rpc_server_config config = {.methods = methods, .n_methods = 1};
	struct rpc_server *server = NULL;
	struct rpc_channel *channel = NULL;
	struct diag d = DIAG_INIT;
	uint64_t n = 0;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) ||
		rpc_server_new(&config, &server, &d) || rpc_server_adopt(server, fds[0], &d) ||
		rpc_channel_new(fds[1], "localhost:1", &channel, &d))
		return 1;
	for (int i = 0; i < N_CALLS; i++) {
		if (i == N_CALLS / 2)
			GUEST_START();
		n += call(channel);
	}
	rpc_channel_free(channel);
	rpc_server_free(server);
	printf("%d bytes echoed\n", (int)n);
	return 0;
}
