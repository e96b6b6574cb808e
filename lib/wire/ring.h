/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's ring in the arena. The thread is the only writer of everything but |tail|; the server
 * is the only reader.
 *
 *   page 0          struct ring
 *   frames          RECORD_MAX_DEPTH × struct ring_frame: arguments of spans that are open
 *   data            n_slots × struct slot, a power of two
 *
 * Order: the slots of an entry, then |head| (release), then |depth| (release). The reader loads
 * |head| (acquire) and then the slots; it stores |tail| (release) when it has copied them. The
 * writer loads |tail| (acquire) only when it has come to |limit|, and not at all while a flight
 * recorder runs. So whenever the program crashes, everything below |head| is whole. A span may be
 * both in the ring and still open, but it is never missing in both: the reader drops an open entry
 * if it began before the record of a span with the same or a smaller depth.
 *
 * The writer raises |limit|, which frees slots, and writes these only after a release fence. The
 * reader copies slots and loads |limit| after an acquire fence. Then it knows which of its copies
 * may have been overwritten: those below |limit| minus the size of the data. The data is divided
 * into RING_SEGMENTS. Each segment has a mark: the position of the first entry that begins in it,
 * and the number of entries before that one.
 */
#ifndef WIRE_RING_H
#define WIRE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/wire/record.h"

/* Segments begin at the multiples of the data's size / RING_SEGMENTS. */
#define RING_SEGMENTS 16u

/* Kept in the arena's head, so that no page of a ring is touched to learn that it is free. */
enum ring_state {
	RING_FREE = 0,
	RING_USED = 1, /* claimed by the thread |tid| */
	RING_BAD = 2, /* no memory for it */
};

/* The reasons why a record was not written; two of them are no losses. */
enum ring_loss {
	LOSS_FULL, /* the ring was full */
	LOSS_REENTRY, /* a signal handler interrupted an annotation */
	LOSS_DEPTH, /* more than RECORD_MAX_DEPTH spans open */
	LOSS_CUT, /* no loss: a text or argument was cut */
	LOSS_LEFT_OPEN, /* the enclosing span ended first */
	LOSS_FOREIGN_END, /* no loss: an end of another thread's span, which stays open */
	LOSS_KINDS
};

struct ring_open {
	_Atomic uint64_t start; /* ticks */
	/* string id (24 bits) | kind (8) | low 32 bits of the head at its begin */
	_Atomic uint64_t what;
};

/* Set in the kind of an open span whose frame holds slots. */
#define RING_OPEN_HAS_FRAME 0x80u
/*
 * Set in the kind of an open entry: this span and the deeper ones end without a record. |what| then
 * has the enum ring_loss in place of the name. In place of the head it has the new value of the
 * counter in |lost|, where that value may not be stored yet.
 */
#define RING_OPEN_DROPPED 0x40u

struct ring_frame {
	_Atomic uint32_t n_slots;
	/*
	 * private to the thread: the owner of the span, if this is a range (a span without a token;
	 * see lib/record/range.h); else 0
	 */
	uint32_t owner;
	uint64_t word0; /* private to the thread: word 0 of the span's record, with start 0 */
	struct slot slots[RECORD_MAX_EXTRA];
};

#define RING_NAME_BYTES 32

/* The first entry that begins in a segment. */
struct ring_mark {
	_Atomic uint64_t position;
	/* number of entries that the thread wrote before it, since ring.first */
	_Atomic uint64_t ordinal;
};

struct ring {
	/* line 0: written by the thread */
	_Alignas(64) _Atomic uint64_t head; /* number of slots ever written */
	/*
	 * No position from here on was ever written. It is not atomic, since the writer reads it
	 * for each entry; others use ring_get_limit().
	 */
	uint64_t limit;
	_Atomic uint32_t depth; /* open spans */
	_Atomic uint32_t word; /* the capture that these records belong to */
	uint32_t slot_mask; /* number of data slots less one; the server does not trust it */
	/*
	 * private to the thread: number of slots below |head| that are not the first slot of an
	 * entry of this recording
	 */
	uint64_t n_other;
	_Atomic uint64_t first; /* the head when the thread entered this recording */
	/* line 1: written by the reader */
	_Alignas(64) _Atomic uint64_t tail;
	/* line 2: identity and losses */
	_Alignas(64) _Atomic int32_t tid;
	_Atomic uint32_t name_at; /* index of the current name in |names| */
	char names[2]
		  [RING_NAME_BYTES]; /* the thread's name, terminated, and room for the next one */
	_Atomic uint64_t lost[LOSS_KINDS]; /* losses in this capture */
	_Atomic uint64_t handle; /* the thread's pthread_self(); 0: unknown */
	_Alignas(64) struct ring_open open[RECORD_MAX_DEPTH];
	/* one for each segment, indexed by its beginning; see ring_mark() */
	_Alignas(64) struct ring_mark marks[RING_SEGMENTS];
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

static inline uint64_t ring_get_limit(const struct ring *r)
{
	return __atomic_load_n(&r->limit, __ATOMIC_RELAXED);
}

/*
 * The mark of the segment at |boundary|, in a ring of |n_slots|; that of an earlier lap, if the
 * writer is not there yet.
 */
static inline struct ring_mark *ring_mark(struct ring *r, uint64_t boundary, uint32_t n_slots)
{
	return &r->marks[(boundary & (n_slots - 1)) / (n_slots / RING_SEGMENTS)];
}

/* The first boundary at or after |position|. */
static inline uint64_t ring_next_boundary(uint64_t position, uint32_t n_slots)
{
	uint64_t segment = n_slots / RING_SEGMENTS;

	return (position + segment - 1) & ~(segment - 1);
}

/*
 * The |word| of the collectors' ring (arena_collect.ring), which belongs to no recording. Only the
 * capture that requested devices reads this ring, from before the recording until after its end.
 * When the ring is full, its writer waits for |tail|, even while other rings overwrite their oldest
 * entries.
 */
#define RING_WORD_DEVICES 0xfffffffcu

/* Returns true if two words belong to one recording, whatever their levels. */
static inline bool ring_is_same_recording(uint32_t a, uint32_t b)
{
	return (a ^ b) < 4;
}

/* For the writer. A thread that dies in the middle of this keeps its old name. */
static inline void ring_set_name(struct ring *r, const char name[RING_NAME_BYTES])
{
	uint32_t at = (atomic_load_explicit(&r->name_at, memory_order_relaxed) & 1u) ^ 1u;

	__builtin_memcpy(r->names[at], name, RING_NAME_BYTES);
	atomic_store_explicit(&r->name_at, at, memory_order_release);
}

/* The name in an untrusted ring may be unterminated. */
static inline const char *ring_get_name(const struct ring *r)
{
	return r->names[atomic_load_explicit(&r->name_at, memory_order_acquire) & 1u];
}

#endif
