/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emptying the rings while a capture runs. It wakes by time and reads each ring's head once a visit; to
 * poll a head would make every span of the target five times slower.
 */
#ifndef DAEMON_DRAIN_H
#define DAEMON_DRAIN_H

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
	uint32_t word; /* the capture's; 0: no thread is recorded */
	uint32_t
		devices; /* number + 1 of the ring that collectors write to, whatever is recorded; 0: none */
	uint64_t lost_no_ring_before;
	uint64_t lost_no_ring;
	int64_t next_reclaim_ns; /* CLOCK_MONOTONIC */
	uint64_t lost_memory; /* entries of threads that had no room for a log */
	uint64_t *ordinals; /* of these, by ring: entries before the tail. NULL: there were none */
	uint64_t lost_oldest; /* entries that were given up for newer ones */
	uint64_t next_serial;
	int is_behind; /* the last visit left some behind, for want of room */
	uint64_t n_broken; /* rings whose positions made no sense */
	struct gaps
		gaps; /* when records were lost that any thread tried to write; not of a picture */
	uint64_t looks
		[3]; /* when the rings were looked at last, in ticks, and the two times before */
	uint64_t seen_no_ring; /* records without a ring that |gaps| knows of */
	/* Of a flight recorder's snapshot, which is pictures of rings. */
	int is_picture;
	uint64_t asked_ticks; /* it was asked for what ended then or later; 0: for all there is */
	uint64_t n_overwritten; /* entries of threads that have no log any more */
	uint64_t
		gone_ticks; /* no entry of these threads ended later; 0: there are none, UINT64_MAX: nobody knows */
	size_t n_ended; /* the first logs, of threads that ended, the last one last */
	uint64_t lost[LOSS_KINDS]; /* theirs, too */
	struct thread_log **logs;
	size_t n_logs;
	size_t n_logs_allocated;
	int32_t log_of_ring[ARENA_MAX_RINGS]; /* index into logs, or -1 */
};

/* |t| and |budget| outlive the drain. */
void drain_init(struct drain *d, struct target *t, struct drain_budget *budget);
void drain_deinit(struct drain *d);
/*
 * Gives all slots to the sink of |budget|, which need not be the drain's own: a part has another one (drain_cut.h). |receiver| and
 * |timeline| as in slot_sink.h. 0 or -ENOMEM, then some stayed.
 */
int drain_give(struct drain *d, struct drain_budget *budget, void *receiver,
	const struct timeline *timeline);

/* Before recording starts: frees the rings of threads that are gone, skips what lies in the others. */
void drain_reset_rings(struct drain *d);
/* From here on only records of the capture |word| count. */
void drain_begin(struct drain *d, uint32_t word);
/*
 * The same over a recording that runs already, of a flight recorder: what its threads wrote and lost until now does not
 * count. Sets |error| as drain_visit().
 */
void drain_begin_over(struct drain *d, uint32_t word, int *error);

/* The ring |devices| - 1 belongs to collectors (RING_WORD_DEVICES), and is emptied like those of threads; 0: there is none. */
void drain_set_devices(struct drain *d, uint32_t devices);

/*
 * What threads have written and lost so far does not count, as far as it surely was before |before_ns|
 * (CLOCK_MONOTONIC). Sets |error| as drain_visit().
 */
void drain_skip(struct drain *d, int64_t before_ns, int *error);

/*
 * Copies out what is new. Returns how full the fullest ring was, in 1/1000. Sets |error| to -ENOMEM when
 * this server is out of memory (then what was copied so far stays valid).
 */
unsigned drain_visit(struct drain *d, int *error);

/* A record was lost by now, and was not at the look before. */
void drain_note_gap(struct drain *d);

/*
 * What is open in the threads now, after a visit; and what they have written since that. drain_finish() does it at the
 * end.
 */
void drain_read_open(struct drain *d, int *error);

/* After recording stopped: the last records, the open spans, the losses. */
void drain_finish(struct drain *d, int *error);

#endif
