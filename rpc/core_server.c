/* SPDX-License-Identifier: Apache-2.0 */
/* gRPC's server object; see core_server.h. */
#include "rpc/core_server.h"

#include "rpc/arg.h"

/*
 * gRPC goes beyond it by what one read brings, 13 KiB for each stream of a few bytes. On a busy machine nothing else
 * bounds what a peer opens before the calls' thread gets to run and hangs up.
 */
#define QUOTA_BYTES (16u << 20)
/* Requests are small. What is read at once is also parsed at once, before anybody can object. */
#define READ_BYTES 8192
#define MAX_STREAMS 16
#define IDLE_MS 60000

/*
 * The receive limit alone does not bound memory: it is checked when the whole message is there, and
 * after decompression. The quota and refusing compressed requests do.
 */
grpc_server *core_server_new(void)
{
	grpc_resource_quota *quota = grpc_resource_quota_create("ptap");
	grpc_arg list[] = {
		arg_int(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, 4 << 20),
		arg_int(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, -1),
		arg_int(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0),
		arg_int(GRPC_ARG_MAX_CONCURRENT_STREAMS, MAX_STREAMS),
		arg_int(GRPC_ARG_TCP_READ_CHUNK_SIZE, READ_BYTES),
		arg_int(GRPC_ARG_TCP_MIN_READ_CHUNK_SIZE, READ_BYTES),
		arg_int(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, READ_BYTES),
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
