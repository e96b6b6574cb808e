/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emptying the rings while a capture runs. It wakes by time and reads each ring's head once a visit; to
 * poll a head would make every span of the target five times slower.
 */
#ifndef DAEMON_DRAIN_H
#define DAEMON_DRAIN_H

#include <stddef.h>
#include <stdint.h>

#include "lib/wire/arena.h"

struct target;

/* A span that was open at the end. */
struct open_span {
	uint64_t start; /* ticks */
	uint32_t string_id;
	unsigned kind; /* enum record_kind, RING_OPEN_HAS_FRAME */
	uint32_t n_slots;
	struct slot slots[RECORD_MAX_EXTRA];
};

/* What one thread has recorded, as raw slots in the order of their ends. */
struct thread_log {
	int32_t tid;
	uint32_t ring;
	char name[RING_NAME_BYTES];
	struct slot *slots;
	size_t n_slots;
	size_t n_allocated;
	uint64_t lost[LOSS_KINDS];
	uint64_t lost_memory; /* slots that did not fit into the capture's memory */
	int is_closed; /* its ring belongs to somebody else now */
	struct open_span *open;
	uint32_t n_open;
};

/* How much all drains of a capture may hold. */
struct drain_budget {
	uint64_t max_bytes;
	uint64_t used_bytes;
};

struct drain {
	struct target *target;
	struct drain_budget *budget;
	uint32_t word; /* the capture's */
	uint64_t lost_no_ring_before;
	uint64_t lost_no_ring;
	int64_t next_reclaim_ns; /* CLOCK_MONOTONIC */
	uint64_t n_broken; /* rings whose positions made no sense */
	struct thread_log **logs;
	size_t n_logs;
	size_t n_logs_allocated;
	int32_t log_of_ring[ARENA_MAX_RINGS]; /* index into logs, or -1 */
};

/* |t| and |budget| outlive the drain. */
void drain_init(struct drain *d, struct target *t, struct drain_budget *budget);
void drain_deinit(struct drain *d);

/* Before recording starts: frees the rings of threads that are gone, skips what lies in the others. */
void drain_reset_rings(struct drain *d);
/* From here on only records of the capture |word| count. */
void drain_begin(struct drain *d, uint32_t word);

/*
 * Copies out what is new. Returns how full the fullest ring was, in 1/1000. Sets |error| to -ENOMEM when
 * this server is out of memory (then what was copied so far stays valid).
 */
unsigned drain_visit(struct drain *d, int *error);

/* After recording stopped: the last records, the open spans, the losses. */
void drain_finish(struct drain *d, int *error);

#endif
