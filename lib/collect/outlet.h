/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring that collectors write to: a thread's like any other, but of no recording (RING_WORD_DEVICES), and its writer waits
 * for room instead of losing what there is none for. The server finds it by its number.
 *
 * Threads: that of the collectors.
 */
#ifndef COLLECT_OUTLET_H
#define COLLECT_OUTLET_H

#include <stdint.h>

struct arena;
struct ring;

struct outlet {
	struct arena *arena;
	struct ring *ring; /* NULL: there is none */
	int may_read_clock; /* else entries have no time, which nobody needs */
};

/* Takes a ring of |arena| and says so there. 0, or -EAGAIN: there is none to have. */
int outlet_open(struct outlet *o, struct arena *arena);

/* Nobody reads any more: the capture is not wanted, or the server is gone. Any thread. */
int outlet_is_closed(struct arena *arena);

/* An entry of the kind RECORD_DEVICE with |n| bytes, at most 31 slots. 0, or -ECANCELED: nobody reads any more. */
int outlet_put(struct outlet *o, uint32_t name, const void *bytes, uint32_t n);

#endif
