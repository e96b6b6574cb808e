/* SPDX-License-Identifier: Apache-2.0 */
/* A connection on which calls are made, as client.h has it; for channel.c, client.c and pending.c only. */
#ifndef RPC_CHANNEL_H
#define RPC_CHANNEL_H

struct grpc_channel;
struct grpc_completion_queue;

struct rpc_channel {
	struct grpc_channel *grpc;
	struct grpc_completion_queue *queue; /* events are plucked from it */
};

#endif
