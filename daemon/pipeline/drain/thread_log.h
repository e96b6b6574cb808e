/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of one thread, copied out of its ring, and the part of a capture's memory that they
 * take.
 */
#ifndef DAEMON_THREAD_LOG_H
#define DAEMON_THREAD_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/drain/slot_sink.h"
#include "daemon/target/era.h"
#include "daemon/target/open_stack.h"

/* A thread's raw slots, in the order in which the records ended. */
struct thread_log {
	uint64_t serial; /* unique in its drain; parts of one log have the same, see drain_cut.h */
	int32_t tid;
	uint32_t ring;
	char name[RING_NAME_BYTES];
	uint64_t handle; /* pthread_self() of the thread; 0: unknown */
	struct slot *slots;
	size_t n_slots;
	size_t n_allocated;
	size_t n_made; /* so many allocated slots have memory already */
	uint64_t n_entries; /* entries in these slots; only for a drain's log */
	size_t last_visit; /* index of the first slot of the last visit */
	/* of the slots; the last one ends with them. NULL: one era covers the whole recording */
	struct era *eras;
	size_t n_eras;
	uint64_t end; /* position in the ring behind the last record that was copied */
	/* entries; LOSS_FULL includes those that were overwritten before the drain read them */
	uint64_t lost[LOSS_KINDS];
	uint64_t lost_before[LOSS_KINDS]; /* the ring's counts when the recording began */
	uint64_t lost_told[LOSS_KINDS]; /* the share of lost[] that earlier parts have reported */
	uint64_t
		lost_memory; /* entries and open spans that did not fit into the capture's memory */
	/* entries that the thread wrote in this recording before the end of the copy */
	uint64_t ordinal;
	uint64_t n_overwritten; /* entries that were overwritten before they were copied */
	/* for a picture, set before it is taken: records before this position are not wanted */
	uint64_t from;
	uint64_t
		n_left_out; /* entries that are older than these slots, and had no room in memory */
	bool is_closed; /* the log has no ring: its thread is gone, or it is in a part */
	uint64_t gone_ticks; /* the thread had ended by then; 0: it is not known to have ended */
	struct open_span *open;
	uint32_t n_open;
	struct open_drop drop; /* spans inside the open ones that ended without a record */
	/* for a picture: end of the first entry that is here; 0: there is none */
	uint64_t window_ticks;
	/*
	 * for a picture: all entries that ended then or later are here; 0: all are, UINT64_MAX:
	 * unknown
	 */
	uint64_t complete_ticks;
	uint64_t n_undated; /* entries that were left out because their time is unknown */
	bool is_limited; /* the ring had older entries that were not requested */
	void *track; /* the sink's object for the earlier slots; NULL: it has taken none */
	uint64_t last_record; /* first word of the record that was copied last; 0: none was */
};

/* The memory that all logs of a capture share. A log counts also while it is empty. */
struct drain_budget {
	uint64_t max_bytes; /* for logs, and for slots that cannot be spooled */
	uint64_t share_slots; /* the most that a snapshot takes of one thread; 0: as many as fit */
	uint64_t used_bytes; /* without the slots that the sink has taken */
	uint64_t slot_bytes; /* the share of slots in |used_bytes| */
	uint64_t given_bytes; /* slots that the sink has taken */
	uint64_t window_bytes; /* slots beyond this go to a sink; 0: no slots do */
	struct slot_sink *sink; /* borrowed; NULL: it was not needed yet */
	bool may_exceed; /* nothing is postponed any more */
	struct era_clock era_clock; /* dates new slots; a picture does not use it */
};

/*
 * The logs and the sink hold at most this many windows of slots. Further slots stay in the rings.
 */
#define DRAIN_MAX_WINDOWS 5

/* Outcomes of the functions below besides 0 and -ENOMEM. */
enum {
	THREAD_LOG_FULL = 1, /* the capture's memory is used up */
	THREAD_LOG_LATER = 2, /* there will be room when more slots were spooled */
};

/* Owner: *out belongs to the caller. */
int thread_log_new(struct drain_budget *budget, struct thread_log **out);
struct thread_log *thread_log_free(struct thread_log *log); /* NULL ok; returns NULL */

/* Copies the thread's name and the losses that |ring| has counted in this recording. */
void thread_log_copy_identity(struct thread_log *log, struct ring *ring);

/* The bytes of a log with |n_open| open spans, without its slots. */
uint64_t thread_log_count_bytes(uint32_t n_open);
/* The number of slots that a snapshot may take of one thread now. */
uint64_t drain_budget_count_room(const struct drain_budget *budget);

/*
 * Allocates memory for |n| more slots that are likely to follow, if the budget allows it. The log
 * does not become longer.
 */
void thread_log_make_room(struct thread_log *log, size_t n, const struct drain_budget *budget);

/*
 * Appends |n| slots, which the caller fills at *room_out. On failure |log| keeps its length. Unless
 * the result is then THREAD_LOG_LATER, the slots are lost, and the caller counts their entries.
 */
int thread_log_extend(
	struct thread_log *log, size_t n, struct drain_budget *budget, struct slot **room_out);

/* Removes the first |n| of the slots that were appended last, and their share of the budget. */
void thread_log_forget(struct thread_log *log, size_t n, struct drain_budget *budget);

/* Moves the slots to the caller, who frees them and their eras. */
struct slot_batch thread_log_steal(struct thread_log *log, struct drain_budget *budget);
/*
 * Gives the slots to the sink of |budget|; the other parameters are those of its take(). 0, or
 * -ENOMEM: the slots stay.
 */
int thread_log_give(struct thread_log *log, struct drain_budget *budget, void *receiver,
	const struct timeline *timeline);

/*
 * Copies the spans that are open in |ring|, before its last records are copied: a span that ends
 * meanwhile is then in both copies. Replaces an earlier copy. Open spans may exceed the budget by
 * an eighth: they show what the threads were doing when the memory of a capture ran out. 0 or
 * -ENOMEM.
 */
int thread_log_copy_open(struct thread_log *log, struct ring *ring, struct drain_budget *budget);
/* Forgets the open spans that had ended when the record |word0| at |position| was written. */
void thread_log_drop_ended(struct thread_log *log, uint64_t word0, uint64_t position);

#endif
