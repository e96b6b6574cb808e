/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring that collectors write to. It differs from a thread's ring in two ways: it belongs to no
 * recording (RING_WORD_DEVICES), and a full ring makes its writer wait instead of dropping records.
 * The server finds it by its number.
 *
 * Threads: the collectors' thread.
 */
#ifndef COLLECT_OUTLET_H
#define COLLECT_OUTLET_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct ring;

struct outlet {
	struct arena *arena;
	struct ring *ring; /* NULL: not open */
	bool may_read_clock; /* if not, entries have no time; their records have their own */
};

/* Takes a ring of |arena| and writes its number there. 0, or -EAGAIN: no ring is free. */
int outlet_open(struct outlet *o, struct arena *arena);

/*
 * Returns true if the ring has no reader any more: the capture was cancelled, or the server is
 * gone. Any thread may call it.
 */
bool outlet_is_closed(struct arena *arena);

/*
 * Writes an entry of the kind RECORD_DEVICE with |n| bytes, at most 31 slots. 0, or -ECANCELED: the
 * outlet is closed.
 */
int outlet_put(struct outlet *o, uint32_t name, const void *bytes, uint32_t n);

#endif
