/* SPDX-License-Identifier: Apache-2.0 */
/* A connection on which calls are made, as client.h has it; for channel.c, client.c and pending.c only. */
#ifndef RPC_CHANNEL_H
#define RPC_CHANNEL_H

#include <stdint.h>

#include "rpc/client.h"

struct grpc_channel;
struct grpc_completion_queue;
struct grpc_resource_quota;

struct rpc_channel {
	struct grpc_channel *grpc;
	struct grpc_completion_queue *queue; /* events are plucked from it */
	struct grpc_resource_quota *quota; /* what it may hold of answers */
	uint64_t quota_bytes;
	char target[RPC_TARGET_BYTES]; /* of each call; "": not said */
};

/* Lets a reply of |reply_bytes| be held, too. */
void channel_make_room(struct rpc_channel *channel, uint64_t reply_bytes);

#endif
