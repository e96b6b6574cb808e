/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying what lies in a ring whose thread writes on, and may overwrite it meanwhile: docs/internals/ring.md, "Reading a
 * ring that runs". A copy is begun, its slots are taken, and only when it is finished is it known from which on they are
 * whole.
 */
#ifndef DAEMON_RING_COPY_H
#define DAEMON_RING_COPY_H

#include <stddef.h>
#include <stdint.h>

#include "lib/wire/ring.h"

struct target;

/* Where an entry begins. */
struct ring_place {
	uint64_t position;
	uint64_t ordinal; /* entries that the thread wrote before it in this recording */
};

struct ring_copy {
	struct ring *ring;
	uint32_t n_slots; /* of the ring */
	uint64_t start; /* of what is copied */
	uint64_t end; /* behind the last entry */
	uint64_t oldest; /* when it is finished: what is below may have been overwritten */
	struct ring_place from; /* the first that is wanted; when it is finished: that is kept */
	struct ring_place marks[RING_SEGMENTS];
};

/* Outcomes, besides 0. */
enum {
	RING_COPY_BROKEN = 1, /* only of a target that writes at random */
	RING_COPY_GONE = 2, /* the thread wrote faster than it was copied: nothing is left */
};

/* Where the thread of |ring| entered this recording. */
struct ring_place ring_get_first(const struct ring *ring);

/* Begins a copy of all from |from| on, of ring |i|. 0 or RING_COPY_BROKEN; then |c->end| is where the ring's head is. */
int ring_copy_begin(
	struct ring_copy *c, const struct target *t, uint32_t i, struct ring_place from);
/*
 * Narrows a copy that is begun to its newest |n_max| slots, or somewhat fewer: it begins at an entry, |c->from|, whose place is
 * known. 0, RING_COPY_BROKEN or RING_COPY_GONE.
 */
int ring_copy_narrow(struct ring_copy *c, uint64_t n_max);
/* Copies |c->end| - |c->start| slots to |to|, which may be NULL if there are none. */
void ring_copy_take(struct ring_copy *c, struct slot *to);
/*
 * What is kept begins at |c->from|: the slots before are none. Outcomes: RING_COPY_BROKEN and RING_COPY_GONE, and
 * |c->from| makes no sense.
 */
int ring_copy_finish(struct ring_copy *c);

/* Of a copy that is finished, with its |slots|, from |c->from| on: an entry's place at |position| or not far before it. */
struct ring_place ring_copy_find(const struct ring_copy *c, uint64_t position);
/* The place of the entry behind that at |at|. */
struct ring_place ring_copy_next(
	const struct ring_copy *c, const struct slot *slots, struct ring_place at);
/* Of one that is finished: how many entries of a thread that began at |first| were overwritten. The others are there, or were not wanted. */
uint64_t ring_copy_count_overwritten(const struct ring_copy *c, struct ring_place first);
/* How many entries the thread wrote before |c->end|. *last is the first word of the last, if the copy has any. */
uint64_t ring_copy_count(const struct ring_copy *c, const struct slot *slots, uint64_t *last);

/*
 * The first entry of a segment, with all its slots, which may be fewer than it says if it is a hostile one's: where it begins,
 * and |n_out| slots. 0 or RING_COPY_GONE: it was overwritten meanwhile, or is not there yet.
 */
int ring_copy_mark(const struct target *t, uint32_t i, uint64_t boundary, struct ring_place *at,
	struct slot slots[1 + RECORD_MAX_EXTRA]);

/* The ordinal of |position|, where an entry begins or the head is, without a copy. 0 or RING_COPY_GONE. */
int ring_find_ordinal(const struct target *t, uint32_t i, struct ring_place *at);

#endif
