/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges: spans that are begun and ended by their owner's number, where there is no token: an NVTX domain's. Each owner has
 * a stack of its own on each thread. Mostly what ends is the innermost span; where other ranges are still open above it, these
 * end with it and begin again at once, with the argument |continued|, because a thread's spans nest. A span of
 * somebody else above it is dropped and counted, as ever.
 *
 * An end that finds no span of its owner does nothing: its begin was before the recording.
 *
 * Threads: any; also in a signal handler, as all annotations.
 */
#ifndef RECORD_RANGE_H
#define RECORD_RANGE_H

#include <stdint.h>

#include "lib/wire/record.h"

struct ring;

/* Writes the arguments into |slots|, of which there are |room|. Returns how many. Called with the guard taken. */
typedef uint32_t range_fill(
	struct ring *ring, struct slot *slots, uint32_t room, const void *context);

/* What is recorded of a range or a point. */
struct range_what {
	const char *name;
	uint32_t *
		id; /* is kept here when |name| never changes, 0 at first; NULL: |name| is copied each time */
	range_fill *fill; /* NULL: no arguments */
	const void *context; /* of |fill| */
};

/* |owner|: not 0. */
void range_push(uint32_t owner, uint32_t word, const struct range_what *what);
void range_pop(uint32_t owner, uint32_t word);

/* An entry without duration. Of a kind that has a number that is the first argument. */
void range_point(uint32_t word, enum record_kind kind, const struct range_what *what);

#endif
