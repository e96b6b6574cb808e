/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a trace as messages of proftap.v1, a chunk each; see trace_stream.h. */
#ifndef DAEMON_TRACE_CHUNKS_H
#define DAEMON_TRACE_CHUNKS_H

#include <stdint.h>

struct delivery;
struct rpc_call;

/*
 * Writes all that is left of |delivery|; *xxh3: the sum of it. 0, or a negative errno: rpc_call_write()'s, -ENOMEM, or -EIO when
 * the trace cannot be read back.
 */
int trace_chunks_write(
	struct rpc_call *call, struct delivery *delivery, int64_t idle_ms, uint64_t *xxh3);

#endif
