/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receiver of slots that are encoded a part at a time: while a capture still records, or after
 * its end. daemon/pipeline/assembly implements it with its spooler; the drain knows only this
 * interface. A batch is all that a thread has recorded since its last batch, so the indirect call
 * costs nothing per slot.
 *
 * Threads: all functions are called by the thread that drains.
 */
#ifndef DAEMON_SLOT_SINK_H
#define DAEMON_SLOT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct era;
struct slot;
struct timeline;

/* Slots of one thread, and the eras that they were recorded in. */
struct slot_batch {
	struct slot *slots; /* malloc'ed */
	size_t n;
	size_t n_allocated;
	struct era *eras; /* malloc'ed, as in struct thread_log */
	size_t n_eras;
};

struct slot_sink {
	/*
	 * Takes the slots and eras of |batch|. |receiver| is the sink's object for the process.
	 * |*track| is the sink's object for the thread: NULL before the first batch, then the sink
	 * sets it. |timeline| reaches beyond the last slot. 0, or -ENOMEM: nothing was taken.
	 */
	int (*take)(struct slot_sink *sink, void *receiver, void **track,
		const struct slot_batch *batch, const struct timeline *timeline);
	/*
	 * Memory of earlier batches that can be filled again, for *n_out slots; NULL: there is
	 * none. Owner: the caller (free).
	 */
	struct slot *(*reuse)(struct slot_sink *sink, size_t *n_out);
	/* Bytes of slots that were taken and are not written yet. */
	uint64_t (*count_held_bytes)(const struct slot_sink *sink);
	/* True when the sink can take no more slots. */
	bool (*is_full)(const struct slot_sink *sink);
};

#endif
