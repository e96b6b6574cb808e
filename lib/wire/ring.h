/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's ring in the arena. The thread is the only writer of everything but |tail|; the server is
 * the only reader.
 *
 *   page 0          struct ring
 *   frames          RECORD_MAX_DEPTH × struct ring_frame: arguments of spans that are open
 *   data            n_slots × struct slot, a power of two
 *
 * Order: the slots of an entry, then |head| (release), then |depth| (release). The reader loads |head|
 * (acquire) and then the slots; it stores |tail| (release) when it has copied them, the writer loads
 * |tail| (acquire) only when it has come to |limit|. So at any instant of a crash
 * everything below |head| is whole, and a span may be both in the ring and still open, never in neither:
 * the reader drops an open entry whose start equals the last record's.
 */
#ifndef WIRE_RING_H
#define WIRE_RING_H

#include <stdatomic.h>
#include <stdint.h>

#include "lib/wire/record.h"

/* Kept in the arena's head, so that nobody touches a ring's pages to learn that it is free. */
enum ring_state {
	RING_FREE = 0,
	RING_USED = 1, /* claimed by the thread |tid| */
	RING_BAD = 2, /* its memory could not be had */
};

/* Why a record was not written. */
enum ring_loss {
	LOSS_FULL, /* the ring was full */
	LOSS_REENTRY, /* a signal handler interrupted an annotation */
	LOSS_DEPTH, /* more than RECORD_MAX_DEPTH spans open */
	LOSS_CUT, /* not lost: a text or argument was cut */
	LOSS_LEFT_OPEN, /* the span around it ended first */
	LOSS_FOREIGN_END, /* not lost, but never ended: another thread began it */
	LOSS_KINDS
};

struct ring_open {
	_Atomic uint64_t start; /* ticks */
	_Atomic uint64_t what; /* string id (24 bits) | kind (8) | low 32 bits of start */
};

/* Set in the kind of an open span whose frame holds slots. */
#define RING_OPEN_HAS_FRAME 0x80u

struct ring_frame {
	_Atomic uint32_t n_slots;
	uint32_t reserved;
	uint64_t word0; /* the thread's: of its record, but for the start */
	struct slot slots[RECORD_MAX_EXTRA];
};

#define RING_NAME_BYTES 32

struct ring {
	/* line 0: the writer's */
	_Alignas(64) _Atomic uint64_t head; /* slots ever written */
	uint64_t limit; /* the first position that must not be written without a look at |tail| */
	_Atomic uint32_t depth; /* open spans */
	_Atomic uint32_t word; /* the capture these records belong to */
	uint32_t slot_mask; /* how many slots of data, less one; the server does not trust it */
	/* line 1: the reader's */
	_Alignas(64) _Atomic uint64_t tail;
	/* line 2: identity and losses */
	_Alignas(64) _Atomic int32_t tid;
	_Atomic uint32_t name_at; /* which of |names| it is */
	char names
		[2]
		[RING_NAME_BYTES]; /* of the thread, terminated: the one it has, and room for another one */
	_Atomic uint64_t lost[LOSS_KINDS]; /* in this capture */
	_Alignas(64) struct ring_open open[RECORD_MAX_DEPTH];
};

#define RING_PAGE_BYTES 4096u
#define RING_FRAMES_BYTES ((uint32_t)sizeof(struct ring_frame) * RECORD_MAX_DEPTH)

_Static_assert(sizeof(struct ring) <= RING_PAGE_BYTES, "a ring's head fits into its page");
_Static_assert(sizeof(struct ring_frame) == 512, "a frame is 512 bytes");

static inline struct ring_frame *ring_frame(struct ring *r, uint32_t depth)
{
	return (struct ring_frame *)((char *)r + RING_PAGE_BYTES) + depth;
}

static inline struct slot *ring_data(struct ring *r)
{
	return (struct slot *)((char *)r + RING_PAGE_BYTES + RING_FRAMES_BYTES);
}

static inline uint64_t ring_stride_bytes(uint32_t data_bytes)
{
	return (uint64_t)RING_PAGE_BYTES + RING_FRAMES_BYTES + data_bytes;
}

/* The writer's. A thread that dies in the middle of it has the name it had. */
static inline void ring_set_name(struct ring *r, const char name[RING_NAME_BYTES])
{
	uint32_t at = (atomic_load_explicit(&r->name_at, memory_order_relaxed) & 1u) ^ 1u;

	__builtin_memcpy(r->names[at], name, RING_NAME_BYTES);
	atomic_store_explicit(&r->name_at, at, memory_order_release);
}

/* Of a ring that nobody vouches for it may be unterminated. */
static inline const char *ring_get_name(const struct ring *r)
{
	return r->names[atomic_load_explicit(&r->name_at, memory_order_acquire) & 1u];
}

static inline uint64_t ring_open_what(uint32_t string_id, unsigned kind, uint64_t start)
{
	return string_id | (uint64_t)kind << 24 | start << 32;
}

#endif
