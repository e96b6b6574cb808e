/* SPDX-License-Identifier: Apache-2.0 */
/* The encoded messages of a trace's delivery: proftap.v1.CaptureReply. */
#ifndef DAEMON_TRACE_PART_H
#define DAEMON_TRACE_PART_H

#include <stddef.h>
#include <stdint.h>

#include "base/chunks.h"

struct capture_result;
struct progress;

/* The limit of the part of an XSpace in one message: with its head the part fits into one chunk. */
#define TRACE_PART_BYTES (CHUNK_BYTES - 16)
/*
 * The lower bound of that limit in a call that a host daemon passes on, where the limit is lower
 * because the daemon holds messages of many streams at once.
 */
#define TRACE_PART_PASSED_BYTES ((128u << 10) - 16)

/*
 * Writes the word with which a host daemon tells a program's server the size of the parts, if
 * |n_streams|, 1 or more, pass through the daemon. The daemon sends it in place of a target
 * (rpc_channel_set_target()), because such a server has only one program. The array has room for
 * the NUL.
 */
#define TRACE_PART_WORD_BYTES 24
void trace_part_write_word(unsigned n_streams, char out[static TRACE_PART_WORD_BYTES]);
/* Returns the size of the parts for a call with |target|; for "" it is TRACE_PART_BYTES. */
size_t trace_part_find_bytes(const char *target);

/* Each appends one message to |to|, which keeps the error. |result| is NULL until it exists. */
void trace_part_add_progress(
	struct chunks *to, const struct progress *p, const struct capture_result *result);
void trace_part_add_trailer(struct chunks *to, const struct capture_result *result,
	uint64_t xspace_bytes, uint64_t xxh3);
/* Appends only the head of a part; the caller appends the |n| bytes (1 to TRACE_PART_BYTES). */
void trace_part_add_head(struct chunks *to, size_t n);
/*
 * Appends the head and room for the bytes, which the caller fills in. Returns NULL on failure; see
 * to->error.
 */
uint8_t *trace_part_add_chunk(struct chunks *to, size_t n);

#endif
