/* SPDX-License-Identifier: Apache-2.0 */
/* The messages that a trace is delivered in: proftap.v1.CaptureReply, encoded. */
#ifndef DAEMON_TRACE_PART_H
#define DAEMON_TRACE_PART_H

#include <stddef.h>
#include <stdint.h>

#include "base/chunks.h"

struct capture_result;
struct progress;

/* So much of the XSpace goes into one message: with its head it fits into one chunk. */
#define TRACE_PART_BYTES (CHUNK_BYTES - 16)
/* The same of a call that a host daemon passes on: that one holds a message of each of many streams. */
#define TRACE_PART_PASSED_BYTES ((128u << 10) - 16)

/* Each appends one message to |to|, which keeps the error. |result|: NULL while there is none. */
void trace_part_add_progress(
	struct chunks *to, const struct progress *p, const struct capture_result *result);
void trace_part_add_trailer(struct chunks *to, const struct capture_result *result,
	uint64_t xspace_bytes, uint64_t xxh3);
/* The head only; the |n| bytes (1 to TRACE_PART_BYTES) go behind it. */
void trace_part_add_head(struct chunks *to, size_t n);
/* The same, and room for them, that the caller fills in. NULL: see |to|. */
uint8_t *trace_part_add_chunk(struct chunks *to, size_t n);

#endif
