/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots of a session that keeps the newest records, and its remaining records when it ends.
 * Each snapshot is a part (continuous.h) with a trace of its own.
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
	struct async_carries carries; /* only the thread that makes a trace uses them */
	const struct capture_trace *whole; /* borrowed */
	void *asked; /* the request's object for a snapshot that waits for collectors, or NULL */
};

/* The recording of |whole| has begun; its raw records may take |max_slot_bytes|. */
void snapshots_init(
	struct snapshots *s, const struct capture_trace *whole, uint64_t max_slot_bytes);
/* Waits for the snapshot that is being made. */
void snapshots_deinit(struct snapshots *s);

/*
 * Called after each visit of the recording: drops the oldest records if there are too many, and
 * begins a requested snapshot once collectors are ready.
 */
void snapshots_visit(struct snapshots *s);

/*
 * Called before the recording ends. If a snapshot waits for collectors, makes it of
 * the records that exist.
 */
void snapshots_settle(struct snapshots *s);
/* Called when the recording has ended: makes the trace of the rest, as capture_trace_make(). */
int snapshots_end(struct snapshots *s, struct capture_result *result);

#endif
