/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges are spans without a token, such as those of an NVTX domain: begin and end have the number
 * of their owner. Each owner has a stack of its own on each thread. Usually the range that ends is
 * the thread's innermost span. If other ranges are open inside it, these end with it and begin
 * again at once, with the argument |continued|, because a thread's spans nest. But if a span of
 * another kind is open inside it, all spans inside it are dropped and counted.
 *
 * An end without a span of its owner does nothing: its begin was before the recording.
 *
 * Threads: any; also in a signal handler, as all annotations.
 */
#ifndef RECORD_RANGE_H
#define RECORD_RANGE_H

#include <stdint.h>

#include "lib/wire/record.h"

struct ring;

/*
 * Writes the arguments into |slots|, which has |room| of them. Returns the number of slots. Called
 * with the guard taken.
 */
typedef uint32_t range_fill(
	struct ring *ring, struct slot *slots, uint32_t room, const void *context);

/* The data to record for a range or a point. */
struct range_what {
	const char *name;
	/*
	 * The id of |name| is kept here if the name never changes, 0 at first; NULL: |name| is
	 * copied each time.
	 */
	uint32_t *id;
	range_fill *fill; /* NULL: no arguments */
	const void *context; /* the argument of |fill| */
};

/* |owner| must not be 0. */
void range_push(uint32_t owner, uint32_t word, const struct range_what *what);
void range_pop(uint32_t owner, uint32_t word);

/*
 * Writes an entry without duration. If |kind| has a number (enum record_kind), what->fill writes it
 * as the first slot.
 */
void range_point(uint32_t word, enum record_kind kind, const struct range_what *what);

#endif
