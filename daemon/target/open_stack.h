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
	uint32_t
		at; /* the low bits of the ring's head when it began: its record comes there, or later */
	uint32_t n_slots;
	struct slot slots[RECORD_MAX_EXTRA];
};

/*
 * Whether its thread has ended it by the time of the record |word0| at |position|: that is its own, or that of a span around
 * it. Times do not tell that, for many spans may begin in one tick.
 */
int open_span_has_ended(const struct open_span *open, uint64_t word0, uint64_t position);

/* How many are open; 0 also when it makes no sense. */
uint32_t open_stack_get_depth(const struct ring *ring);
/* Spans that ended without a record: they are counted, or about to be. */
struct open_drop {
	int is_one;
	enum ring_loss reason;
	uint32_t n_after; /* the low bits of that count, with them */
};

/*
 * Copies those below |depth| to |to|, the outermost first. Returns how many: one that the thread ended or began meanwhile
 * may be missing.
 */
uint32_t open_stack_read(
	struct ring *ring, uint32_t depth, struct open_span *to, struct open_drop *drop);

/*
 * The same for somebody who looks at a thread that may run, with nothing else: copies all spans that are open to |to|. Returns how many;
 * *is_moving is 1 when the thread changed its stack at each of several tries: then each span was open, but not all at the same instant.
 */
uint32_t open_stack_look(struct ring *ring, struct open_span to[RECORD_MAX_DEPTH], int *is_moving);

/* The count |lost| by |reason|, with those of |drop|. */
uint64_t open_drop_add(const struct open_drop *drop, enum ring_loss reason, uint64_t lost);

#endif
