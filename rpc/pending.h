/* SPDX-License-Identifier: Apache-2.0 */
/* A call in flight, as client.h has it: what its parts share. */
#ifndef RPC_PENDING_H
#define RPC_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include <grpc/grpc.h>
#include <grpc/support/time.h>

struct rpc_channel;

/*
 * What is waited for, in this order; each comes at the latest when the call ends. A stream begins with STAGE_HEAD, comes
 * to STAGE_REPLY for each message, and has no STAGE_EXTRA.
 */
enum stage {
	STAGE_HEAD,
	STAGE_REPLY,
	STAGE_MESSAGE, /* of a stream: |reply| is there, or none was asked for; nothing is waited for */
	STAGE_EXTRA,
	STAGE_STATUS,
	STAGE_ENDED,
};

/* The address of a result is its event's tag. */
struct rpc_pending {
	struct rpc_channel *channel;
	grpc_call *grpc;
	enum stage stage;
	bool is_stream;
	gpr_timespec deadline; /* as gRPC has it */
	uint64_t max_reply_bytes;
	char fault[80]; /* why the reply was refused, or "" */
	grpc_byte_buffer *request;
	grpc_byte_buffer *reply; /* NULL: none came */
	grpc_byte_buffer *extra; /* a second message: NULL, or it is refused */
	grpc_metadata_array initial;
	grpc_metadata_array trailing;
	grpc_status_code status;
	grpc_slice details;
	char *text; /* |details| as a string, after the end; gRPC's to free */
};

/* gRPC's time in |ms| from now; < 0: never. */
gpr_timespec pending_after_ms(int64_t ms);
/* Starts a batch of one. */
void pending_start_op(struct rpc_pending *pending, const grpc_op *op, void *tag);

#endif
