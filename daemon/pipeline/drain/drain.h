/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Empties the rings while a capture runs. A timer wakes the drain, which reads each ring's head
 * once in each visit: to poll a head would make every span of the target five times slower.
 */
#ifndef DAEMON_DRAIN_H
#define DAEMON_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/drain/gaps.h"
#include "daemon/pipeline/drain/thread_log.h"
#include "lib/wire/arena.h"

struct target;
struct timeline;

struct drain {
	struct target *target;
	struct drain_budget *budget;
	uint32_t word; /* of the capture; 0: no thread is recorded */
	uint32_t devices; /* number + 1 of the ring that collectors write to; 0: there is none */
	uint64_t lost_no_ring_before;
	uint64_t lost_no_ring;
	int64_t next_reclaim_ns; /* CLOCK_MONOTONIC */
	uint64_t lost_memory; /* entries of threads that had no room for a log */
	/* by ring: entries before the tail of a thread without a log. NULL: all threads have one */
	uint64_t *ordinals;
	uint64_t lost_oldest; /* entries that were given up for newer ones */
	uint64_t next_serial;
	bool is_behind; /* the last visit left records in the rings, for want of room */
	uint64_t n_broken; /* rings with invalid positions */
	struct gaps
		gaps; /* the times in which records of any thread were lost; a picture has none */
	uint64_t passes[3]; /* ticks of the last three passes over the rings, the newest first */
	uint64_t seen_no_ring; /* records without a ring that |gaps| already covers */
	/*
	 * The rest is for a snapshot of the flight recorder, which consists of pictures of rings.
	 */
	bool is_picture;
	uint64_t asked_ticks; /* the snapshot has the entries that ended then or later; 0: all */
	uint64_t n_overwritten; /* entries of threads that have no log any more */
	/*
	 * no entry of these threads ended later; 0: there are no such threads, UINT64_MAX: unknown
	 */
	uint64_t gone_ticks;
	/* the number of logs of ended threads, which come first, in the order of their ends */
	size_t n_ended;
	uint64_t lost[LOSS_KINDS]; /* losses of threads that have no log any more */
	struct thread_log **logs;
	size_t n_logs;
	size_t n_logs_allocated;
	int32_t log_of_ring[ARENA_MAX_RINGS]; /* index into logs, or -1 */
};

/* |t| and |budget| outlive the drain. */
void drain_init(struct drain *d, struct target *t, struct drain_budget *budget);
void drain_deinit(struct drain *d);
/*
 * Gives all slots to the sink of |budget|. This need not be the drain's own budget: a part has
 * another budget (drain_cut.h). |receiver| and |timeline| as in slot_sink.h. 0, or -ENOMEM: some
 * slots stayed.
 */
int drain_give(struct drain *d, struct drain_budget *budget, void *receiver,
	const struct timeline *timeline);

/*
 * Frees, before recording starts, the rings of threads that are gone, and skips all records in the
 * others.
 */
void drain_reset_rings(struct drain *d);
/* From here on only records of the capture |word| count. */
void drain_begin(struct drain *d, uint32_t word);
/*
 * Begins while a flight recorder already records the threads: records that they wrote or lost
 * until now do not count. Sets |error| as drain_visit().
 */
void drain_begin_over(struct drain *d, uint32_t word, int *error);

/*
 * From here on visits also empty the ring |devices| - 1, which belongs to collectors
 * (RING_WORD_DEVICES); 0: there is none.
 */
void drain_set_devices(struct drain *d, uint32_t devices);

/*
 * Excludes the records that threads have written or lost so far, if it is certain that this was
 * before |before_ns| (CLOCK_MONOTONIC). Sets |error| as drain_visit().
 */
void drain_skip(struct drain *d, int64_t before_ns, int *error);

/*
 * Copies out the new records. Returns how full the fullest ring was, in 1/1000. Sets |error| to
 * -ENOMEM when this server is out of memory (then the records copied so far stay valid).
 */
unsigned drain_visit(struct drain *d, int *error);

/*
 * Reads, after a visit, the spans that are open in the threads, and the records that were written
 * since the visit. drain_finish() does it at the end.
 */
void drain_read_open(struct drain *d, int *error);

/* Reads the last records, the open spans and the losses after recording has stopped. */
void drain_finish(struct drain *d, int *error);

#endif
