/* SPDX-License-Identifier: Apache-2.0 */
/* Channels and calls in flight: the structs that channel.c, client.c and call.c share. */
#ifndef RPC_CLIENT_PARTS_H
#define RPC_CLIENT_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include <grpc/grpc.h>
#include <grpc/support/time.h>

#include "rpc/client.h"

struct grpc_resource_quota;

struct rpc_channel {
	struct grpc_channel *grpc;
	struct grpc_completion_queue *queue; /* events are plucked from it */
	struct grpc_resource_quota *quota; /* bounds the memory of answers */
	uint64_t quota_bytes;
	char target[RPC_TARGET_BYTES]; /* sent with each call; "": not sent */
};

/* Raises the memory limit of the channel so that a reply of |reply_bytes| fits. */
void channel_make_room(struct rpc_channel *channel, uint64_t reply_bytes);

/*
 * The event that is waited for. Events come in this order, each at the latest when the call ends. A
 * stream begins with STAGE_HEAD, returns to STAGE_REPLY for each message, and has no STAGE_EXTRA.
 */
enum stage {
	STAGE_HEAD,
	STAGE_REPLY,
	STAGE_MESSAGE, /* streams: |reply| is there, or none was asked for */
	STAGE_EXTRA,
	STAGE_STATUS,
	STAGE_ENDED,
};

/* The address of each result is the tag of its event. */
struct rpc_pending {
	struct rpc_channel *channel;
	grpc_call *grpc;
	enum stage stage;
	bool is_stream;
	gpr_timespec deadline; /* gRPC's own time */
	uint64_t max_reply_bytes;
	char fault[80]; /* why the reply was refused, or "" */
	grpc_byte_buffer *request;
	grpc_byte_buffer *reply; /* NULL: no reply came */
	grpc_byte_buffer *extra; /* a second message, which is refused; NULL: none came */
	grpc_metadata_array initial;
	grpc_metadata_array trailing;
	grpc_status_code status;
	grpc_slice details;
	char *text; /* |details| as a string, after the end; freed by gpr_free() */
};

#endif
