/* SPDX-License-Identifier: Apache-2.0 */
/* What one thread has recorded, copied out of its ring, and how much of a capture's memory that takes. */
#ifndef DAEMON_THREAD_LOG_H
#define DAEMON_THREAD_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/drain/slot_sink.h"
#include "daemon/target/era.h"
#include "daemon/target/open_stack.h"

/* Raw slots in the order of the records' ends. */
struct thread_log {
	uint64_t serial; /* of its drain: parts of one log have the same, see drain_cut.h */
	int32_t tid;
	uint32_t ring;
	char name[RING_NAME_BYTES];
	uint64_t handle; /* pthread_self() of the thread; 0: not known */
	struct slot *slots;
	size_t n_slots;
	size_t n_allocated;
	size_t n_made; /* of these: that have memory already */
	uint64_t n_entries; /* of a drain's log: that these slots are */
	size_t last_visit; /* where the slots begin that came last */
	struct era *
		eras; /* of all slots: the last one ends with them. NULL: all are of the whole recording's */
	size_t n_eras;
	uint64_t end; /* in the ring, behind the last record that was copied */
	uint64_t lost
		[LOSS_KINDS]; /* entries of LOSS_FULL also that were overwritten before the drain came */
	uint64_t lost_before[LOSS_KINDS]; /* that the ring had counted already */
	uint64_t lost_told[LOSS_KINDS]; /* of those, in parts that were cut off before */
	uint64_t
		lost_memory; /* entries, and open spans, that did not fit into the capture's memory */
	uint64_t
		ordinal; /* entries that its thread wrote in this recording, up to where the copy ends */
	uint64_t n_overwritten; /* of these, before they were copied */
	uint64_t
		from; /* of a picture, set before it is taken: what its ring has before that position nobody wants */
	uint64_t
		n_left_out; /* entries that are older than what is here, and that there was no memory for */
	int is_closed; /* its ring belongs to somebody else now */
	uint64_t gone_ticks; /* its thread had ended by then; 0: nobody knows of it */
	struct open_span *open;
	uint32_t n_open;
	struct open_drop drop; /* above these */
	uint64_t
		window_ticks; /* of a picture: the first one that is here ended then; 0: there is none */
	uint64_t
		complete_ticks; /* of a picture: nothing is missing that ended then or later; 0: nothing is missing, UINT64_MAX: nobody knows */
	uint64_t n_undated; /* entries that were left out: nobody knows when they were written */
	int is_limited; /* older ones were there, which nobody had asked for */
	void *track; /* the sink's object for the earlier slots; NULL: it has taken none */
	uint64_t
		last_record; /* the first word of the last one that was copied, wherever it is now; 0: none was */
};

/* How much all logs of a capture may hold. A log that exists counts, also when it is empty. */
struct drain_budget {
	uint64_t max_bytes; /* of slots that cannot be spooled, and of logs */
	uint64_t share_slots; /* of one thread's in a snapshot; 0: as many as fit */
	uint64_t used_bytes; /* without the slots that the sink has taken */
	uint64_t slot_bytes; /* of these: slots */
	uint64_t given_bytes; /* slots that the sink has taken */
	uint64_t window_bytes; /* slots beyond these go to a sink; 0: none do */
	struct slot_sink *sink; /* borrowed; NULL: it was not needed yet */
	int may_exceed; /* nothing is put off any more */
	struct era_clock era_clock; /* of all slots that come; not of a picture's */
};

/* At most so many windows of slots wait for the sink or in it; beyond that the rings keep theirs. */
#define DRAIN_MAX_WINDOWS 5

/* Outcomes of the functions below besides 0 and -ENOMEM. */
enum {
	THREAD_LOG_FULL = 1, /* the capture's memory */
	THREAD_LOG_LATER = 2, /* there will be room when more was spooled */
};

/* Owner: *out belongs to the caller. */
int thread_log_new(struct drain_budget *budget, struct thread_log **out);
struct thread_log *thread_log_free(struct thread_log *log); /* NULL ok; returns NULL */

/* The thread's name, and what |ring| says that it has lost in this recording. */
void thread_log_copy_identity(struct thread_log *log, struct ring *ring);

/* What a log takes beside its slots, which has so many spans that are open. */
uint64_t thread_log_count_bytes(uint32_t n_open);
/* How many slots of one thread a snapshot may have now. */
uint64_t drain_budget_count_room(const struct drain_budget *budget);

/* Has memory made for |n| slots more that are likely to come, if they may; nothing counts as there yet. */
void thread_log_make_room(struct thread_log *log, size_t n, const struct drain_budget *budget);

/*
 * Room for |n| slots more: *room_out is where they go, and they count as there. Otherwise nothing happens; unless it is
 * THREAD_LOG_LATER they are lost, and whoever knows how many entries they are counts them.
 */
int thread_log_extend(
	struct thread_log *log, size_t n, struct drain_budget *budget, struct slot **room_out);

/* Of the slots that came last, the first |n| are none: they go, with what they take. */
void thread_log_forget(struct thread_log *log, size_t n, struct drain_budget *budget);

/* Moves the slots to the caller, who frees them and their eras. */
struct slot_batch thread_log_steal(struct thread_log *log, struct drain_budget *budget);
/* Gives the slots to the sink of |budget|; the rest is as for its take(). 0 or -ENOMEM, then they stay. */
int thread_log_give(struct thread_log *log, struct drain_budget *budget, void *receiver,
	const struct timeline *timeline);

/*
 * Copies the spans that are open in |ring|, the thread's, before its last records are: one that has ended meanwhile is in
 * both, then. What was copied before and is still here is forgotten. They may go an eighth beyond the budget: in a capture
 * whose memory is full, too, they tell what the threads were at. 0 or -ENOMEM.
 */
int thread_log_copy_open(struct thread_log *log, struct ring *ring, struct drain_budget *budget);
/* Forgets those of them that have ended by the time of the record |word0| at |position|. */
void thread_log_drop_ended(struct thread_log *log, uint64_t word0, uint64_t position);

#endif
