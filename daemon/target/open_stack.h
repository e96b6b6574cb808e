/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open spans of a thread, which may run meanwhile: the stack in its struct ring, and their
 * frames.
 */
#ifndef DAEMON_OPEN_STACK_H
#define DAEMON_OPEN_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/wire/ring.h"

/* A span that was open when the stack was read. */
struct open_span {
	uint64_t start; /* ticks */
	uint32_t string_id;
	unsigned kind; /* enum record_kind, RING_OPEN_HAS_FRAME */
	unsigned depth;
	/* low bits of ring->head when it began: its record comes at that position, or later */
	uint32_t at;
	uint32_t n_slots;
	struct slot slots[RECORD_MAX_EXTRA];
};

/*
 * Returns true if the record |word0| at |position| is that of the span, or that of a span around it
 * which ended later: then the thread has ended the span. Times cannot decide this, because many
 * spans may begin in one tick.
 */
bool open_span_has_ended(const struct open_span *open, uint64_t word0, uint64_t position);

/* Returns the number of open spans; 0 also if ring->depth is invalid. */
uint32_t open_stack_get_depth(const struct ring *ring);
/* Spans that ended without a record; they are counted, or about to be. */
struct open_drop {
	bool is_one;
	enum ring_loss reason;
	uint32_t n_after; /* low bits of the ring's count of |reason|, these spans included */
};

/*
 * Copies the spans of depth 0 to |depth| - 1 to |to|, the outermost first. Returns how many: a span
 * that the thread ended or began meanwhile may be missing.
 */
uint32_t open_stack_read(
	struct ring *ring, uint32_t depth, struct open_span *to, struct open_drop *drop);

/*
 * Like open_stack_read(), for a caller that reads no records of the thread with which it could
 * correct the copy; the thread may run. Copies all open spans to |to|. Returns their number.
 * *is_moving is true if the thread changed its stack at each of several tries: then each span was
 * open, but not all at the same instant.
 */
uint32_t open_stack_copy(struct ring *ring, struct open_span to[RECORD_MAX_DEPTH], bool *is_moving);

/* Returns the count |lost| by |reason|, with the spans of |drop| included. */
uint64_t open_drop_add(const struct open_drop *drop, enum ring_loss reason, uint64_t lost);

#endif
