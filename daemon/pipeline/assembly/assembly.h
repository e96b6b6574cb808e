/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An assembly makes the plane of one process. It gets raw slots, either all when the
 * recording has ended or a part at a time while it lasts; in the second case the events of
 * threads go to a spool at once.
 *
 * Threads: one at a time.
 */
#ifndef DAEMON_ASSEMBLY_H
#define DAEMON_ASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/kernel/memory_budget.h"
#include "daemon/pipeline/assembly/asyncs.h"
#include "daemon/pipeline/assembly/counters.h"
#include "daemon/pipeline/assembly/events.h"
#include "daemon/pipeline/assembly/stats.h"
#include "daemon/pipeline/assembly/texts.h"
#include "daemon/pipeline/devices/devices.h"
#include "daemon/target/era.h"
#include "trace/model/space.h"
#include "trace/xspace/xspace_events.h"

struct part_writer;
struct plane;
struct slot;
struct spool;
struct target;
struct thread_log;
struct timeline;
struct track;

struct assembly {
	struct target *target;
	struct era whole; /* the era of records that have no other */
	const struct era *era; /* the present one */
	const struct era *eras; /* borrowed: |n_eras| of them, from the present one on */
	size_t n_eras;
	uint64_t start_ticks; /* records that began earlier are left out */
	/* spans that end at this time were cut, and all end at |cut_ns|; 0: not known yet */
	uint64_t cut_ticks;
	int64_t cut_ns;
	/* later records are left out, and spans are cut at this time; INT64_MAX at first */
	int64_t end_ns;
	struct timeline *timeline;
	struct plane *plane;
	struct texts texts;
	struct stats stats;
	struct counter_table counters;
	struct asyncs asyncs;
	uint32_t n_threads; /* the number of threads that have had entries so far */
	struct events events; /* of the present thread */
	struct device_records devices;
	struct launch_stack *calls; /* calls of the thread that wait for the spans around them */
	struct launch_stack own_calls; /* of a thread that is not spooled */
	struct line ordered; /* |events| in order, on their way to the spool; without a name */
	struct xspace_events encoder;
	struct xspace_events plain_encoder; /* of events without stats */
	struct spool *spool; /* borrowed; NULL: nothing is spooled */
	bool gives_slots; /* the slots that are spooled now become the spool's memory */
	struct part_writer *writer; /* borrowed; NULL: the adding thread writes all events */
	struct memory_budget *keep; /* borrowed, or |no_limit| */
	struct memory_budget no_limit;
	size_t n_line_stats; /* stats of the plane that belong to complete lines */
	size_t n_line_text_bytes; /* bytes of own_texts that belong to complete lines */
	uint64_t n_invalid; /* invalid entries */
	uint64_t n_undated; /* entries of unknown time */
	uint64_t n_dropped; /* marks and samples for which memory had no room */
	const _Atomic int *cancel; /* raised: the plane is not wanted any more; NULL ok */
	int error; /* -ENOMEM, and stays so, or -ECANCELED */
};

/*
 * |target| is borrowed. No record ended before |earliest_ticks|. Owner: *out belongs to the caller.
 * 0 or -ENOMEM.
 */
int assembly_new(struct target *target, uint64_t earliest_ticks, uint64_t start_ticks,
	struct assembly **out);
/* Allows events to be spooled from here on. |spool| and |keep| are borrowed. */
void assembly_set_spool(struct assembly *as, struct spool *spool, struct memory_budget *keep);
/* Sets a writer, which gets the events without stats and writes them to the spool. Borrowed. */
void assembly_set_writer(struct assembly *as, struct part_writer *writer);
struct assembly *assembly_free(struct assembly *as); /* NULL ok; returns NULL */

/* Sets the eras of the slots that are added next, and only of those. Borrowed. */
void assembly_set_eras(struct assembly *as, const struct era *eras, size_t n_eras);

/*
 * Decodes |slots|. Events go to as->events in the order of their ends, other entries to their
 * tables. 0 or as->error.
 */
int assembly_add(struct assembly *as, const struct slot *slots, size_t n_slots);

/*
 * Adds the spans of a thread that were open at |stop_ticks|, after the thread's slots. They are cut
 * at |cut_ticks|, or earlier if the thread ended earlier. The innermost is added first, as if the
 * spans ended now.
 */
int assembly_add_open(
	struct assembly *as, const struct thread_log *log, uint64_t stop_ticks, uint64_t cut_ticks);

/*
 * Works as assembly_add() for a thread whose events go to |track| in as->spool. With
 * as->gives_slots the spool owns the slots (spool_take_used()), and this function notes how many it
 * has read (spool_reuse()).
 */
int assembly_spool(
	struct assembly *as, struct track *track, const struct slot *slots, size_t n_slots);
/* Moves as->events to |track|. */
int assembly_flush(struct assembly *as, struct track *track);

#endif
