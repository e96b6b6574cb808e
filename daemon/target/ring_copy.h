/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the contents of a ring while its thread writes on, and may overwrite them:
 * docs/internals/ring.md, "Reading a ring that runs". ring_copy_begin() begins a copy,
 * ring_copy_take() copies its slots, and only ring_copy_finish() finds out which of them are
 * intact.
 */
#ifndef DAEMON_RING_COPY_H
#define DAEMON_RING_COPY_H

#include <stdint.h>

#include "lib/wire/ring.h"

struct target;

/* The place of an entry. */
struct ring_place {
	uint64_t position;
	uint64_t ordinal; /* entries that the thread wrote before it in this recording */
};

struct ring_copy {
	struct ring *ring;
	uint32_t n_slots; /* size of the ring */
	uint64_t start; /* position of the first slot copied */
	uint64_t end; /* position after the last entry */
	uint64_t oldest; /* after finishing: slots below may have been overwritten */
	struct ring_place from; /* the first entry wanted; after finishing: the first one kept */
	struct ring_place marks[RING_SEGMENTS];
};

/* Outcomes, besides 0. */
enum {
	RING_COPY_BROKEN = 1, /* only if the target writes at random */
	RING_COPY_GONE = 2, /* the thread wrote faster than it was copied: nothing is left */
};

/* Returns the place where the thread of |ring| entered this recording. */
struct ring_place ring_get_first(const struct ring *ring);

/*
 * Begins a copy of ring |i| from |from| on. 0 or RING_COPY_BROKEN; in both cases |c->end| is the
 * ring's head.
 */
int ring_copy_begin(
	struct ring_copy *c, const struct target *t, uint32_t i, struct ring_place from);
/*
 * Narrows a copy that is begun to its newest |n_max| slots, or somewhat fewer: it begins at an
 * entry, |c->from|, whose place is known. 0, RING_COPY_BROKEN or RING_COPY_GONE.
 */
int ring_copy_narrow(struct ring_copy *c, uint64_t n_max);
/* Copies |c->end| - |c->start| slots to |to|, which may be NULL if there are none. */
void ring_copy_take(struct ring_copy *c, struct slot *to);
/*
 * Finds out which slots may have been overwritten: the caller keeps those from |c->from| on. 0;
 * RING_COPY_BROKEN or RING_COPY_GONE: it can keep none, and |c->from| is invalid.
 */
int ring_copy_finish(struct ring_copy *c);

/*
 * Finds the place of an entry at |position| or shortly before it, in a finished copy and not before
 * |c->from|.
 */
struct ring_place ring_copy_find(const struct ring_copy *c, uint64_t position);
/* Returns the place of the entry after the one at |at|. */
struct ring_place ring_copy_next(
	const struct ring_copy *c, const struct slot *slots, struct ring_place at);
/*
 * Returns how many entries of the thread were overwritten before |c|, a finished copy; |first| is
 * the thread's ring_get_first(). The other entries are in the copy, or were not wanted.
 */
uint64_t ring_copy_count_overwritten(const struct ring_copy *c, struct ring_place first);
/*
 * Returns how many entries the thread wrote before |c->end|. *last is the first word of the last
 * entry, if the copy has any.
 */
uint64_t ring_copy_count(const struct ring_copy *c, const struct slot *slots, uint64_t *last);

/*
 * Copies the first entry of a segment: its place to |*at|, and its slots to |slots|. These are
 * fewer than the entry claims if the target is hostile. 0 or RING_COPY_GONE: it was overwritten
 * meanwhile, or is not there yet.
 */
int ring_copy_mark(const struct target *t, uint32_t i, uint64_t boundary, struct ring_place *at,
	struct slot slots[1 + RECORD_MAX_EXTRA]);

/*
 * Sets |at->ordinal| from |at->position|, the position of an entry or of the head, without a copy.
 * 0 or RING_COPY_GONE.
 */
int ring_find_ordinal(const struct target *t, uint32_t i, struct ring_place *at);

#endif
