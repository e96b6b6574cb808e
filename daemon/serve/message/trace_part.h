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
/* The same, at least, of a call that a host daemon passes on: that one holds messages of each of many streams. */
#define TRACE_PART_PASSED_BYTES ((128u << 10) - 16)

/*
 * What such a daemon says in the place of a target (rpc_channel_set_target()), as a program's own server has but one: how large the
 * parts are to be that it has to hold, where |n_streams|, 1 or more, go through it. With its end.
 */
#define TRACE_PART_WORD_BYTES 24
void trace_part_write_word(unsigned n_streams, char out[static TRACE_PART_WORD_BYTES]);
/* How large they are to be, of a call for |target|: TRACE_PART_BYTES where that is "". */
size_t trace_part_find_bytes(const char *target);

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
