/* SPDX-License-Identifier: Apache-2.0 */
/* What one thread has recorded, copied out of its ring, and how much of a capture's memory that takes. */
#ifndef DAEMON_THREAD_LOG_H
#define DAEMON_THREAD_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "lib/wire/ring.h"

/* A span that was open at the end. */
struct open_span {
	uint64_t start; /* ticks */
	uint32_t string_id;
	unsigned kind; /* enum record_kind, RING_OPEN_HAS_FRAME */
	uint32_t n_slots;
	struct slot slots[RECORD_MAX_EXTRA];
};

/* Raw slots in the order of the records' ends. */
struct thread_log {
	uint64_t serial; /* of its drain: parts of one log have the same, see drain_cut.h */
	int32_t tid;
	uint32_t ring;
	char name[RING_NAME_BYTES];
	struct slot *slots;
	size_t n_slots;
	size_t n_allocated;
	uint64_t lost[LOSS_KINDS];
	uint64_t lost_told[LOSS_KINDS]; /* of those, in parts that were cut off before */
	uint64_t
		lost_memory; /* slots, and open spans, that did not fit into the capture's memory */
	int is_closed; /* its ring belongs to somebody else now */
	struct open_span *open;
	uint32_t n_open;
};

/* How much all logs of a capture may hold. A log that exists counts, also when it is empty. */
struct drain_budget {
	uint64_t max_bytes;
	uint64_t used_bytes;
};

/* Outcome of the two below besides 0 and -ENOMEM: the capture's memory is full. */
#define THREAD_LOG_FULL 1

/* Owner: *out belongs to the caller. */
int thread_log_new(struct drain_budget *budget, struct thread_log **out);
struct thread_log *thread_log_free(struct thread_log *log); /* NULL ok; returns NULL */

/*
 * Room for |n| slots more: *room_out is where they go, and they count as there. Otherwise they are lost, and
 * counted as such.
 */
int thread_log_extend(
	struct thread_log *log, size_t n, struct drain_budget *budget, struct slot **room_out);

/*
 * Copies the spans that are open in |ring|, the thread's; once, after its last record. They may go an eighth beyond the
 * budget: in a capture whose memory is full, too, they tell what the threads were at. 0 or -ENOMEM.
 */
int thread_log_read_open(struct thread_log *log, struct ring *ring, struct drain_budget *budget);

#endif
