/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session that keeps the newest is asked for while it records, and the rest of it: each a part (continuous.h) with a
 * trace of its own.
 */
#ifndef DAEMON_SNAPSHOTS_H
#define DAEMON_SNAPSHOTS_H

#include <stdint.h>

#include "daemon/pipeline/assembly/async_carry.h"
#include "daemon/pipeline/recording/continuous.h"

struct capture_result;
struct capture_trace;

/* All zero: deinit does nothing. */
struct snapshots {
	struct continuous kept;
	struct async_carries carries; /* of whoever makes a trace */
	const struct capture_trace *whole; /* borrowed */
	void *asked; /* the request's that waits for collectors, or NULL */
};

/* The recording of |whole| has begun; |max_slot_bytes| is what its raw records may take. */
void snapshots_init(
	struct snapshots *s, const struct capture_trace *whole, uint64_t max_slot_bytes);
/* Waits for the one that is being made. */
void snapshots_deinit(struct snapshots *s);

/* After each visit of the recording: what is too much goes, and the next snapshot that was asked for is made. */
void snapshots_visit(struct snapshots *s);

/* Before the recording ends: who waits for collectors has his part, of what there is. */
void snapshots_settle(struct snapshots *s);
/* Once the recording has ended: the trace of what is left, as capture_trace_make(). */
int snapshots_end(struct snapshots *s, struct capture_result *result);

#endif
