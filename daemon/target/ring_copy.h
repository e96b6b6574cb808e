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
/* How many entries the thread wrote before |c->end|. *last is the first word of the last, if the copy has any. */
uint64_t ring_copy_count(const struct ring_copy *c, const struct slot *slots, uint64_t *last);

/* The ordinal of |position|, where an entry begins or the head is, without a copy. 0 or RING_COPY_GONE. */
int ring_find_ordinal(const struct target *t, uint32_t i, struct ring_place *at);

#endif
