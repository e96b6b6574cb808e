/* SPDX-License-Identifier: Apache-2.0 */
/* The spans that are open in a thread, which may run meanwhile: the stack in its ring's head, and their frames. */
#ifndef DAEMON_OPEN_STACK_H
#define DAEMON_OPEN_STACK_H

#include <stdint.h>

#include "lib/wire/ring.h"

/* A span that was open at the end. */
struct open_span {
	uint64_t start; /* ticks */
	uint32_t string_id;
	unsigned kind; /* enum record_kind, RING_OPEN_HAS_FRAME */
	unsigned depth;
	uint32_t n_slots;
	struct slot slots[RECORD_MAX_EXTRA];
};

/* What tells a record from others: its first word without the number of its extra slots. */
static inline uint64_t record_identity(uint64_t word0)
{
	return word0 & ~record_word0(0, RECORD_NONE, 0, RECORD_MAX_EXTRA);
}

/* The record_identity() that the span has in the ring when it has ended. Others may have begun in the same tick. */
uint64_t open_span_identity(const struct open_span *open);

/* How many are open; 0 also when it makes no sense. */
uint32_t open_stack_get_depth(const struct ring *ring);
/*
 * Copies those below |depth| to |to|, the outermost first. Returns how many: one that the thread ended or began meanwhile
 * may be missing.
 */
uint32_t open_stack_read(struct ring *ring, uint32_t depth, struct open_span *to);

#endif
