/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plane of one process in the making: raw slots go in, in one go when the recording has ended, or a part at a time
 * while it lasts; then the events of threads leave for a spool at once.
 *
 * Threads: none inside; one at a time.
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
	struct era whole; /* of all records that it is not known better of */
	const struct era *era; /* of those at hand */
	const struct era *eras; /* borrowed: those that are still to come, |n_eras| of them */
	size_t n_eras;
	uint64_t start_ticks; /* records that began earlier are left out */
	uint64_t
		cut_ticks; /* what ends there was cut, and ends at |cut_ns|, whichever way it is cut; 0: not known yet */
	int64_t cut_ns;
	int64_t end_ns; /* so are those that began later, and spans are cut there; INT64_MAX at first */
	struct timeline *timeline;
	struct plane *plane;
	struct texts texts;
	struct stats stats;
	struct counters counters;
	struct asyncs asyncs;
	uint32_t n_threads; /* that entries came of */
	struct events events; /* of the thread at hand */
	struct devices devices;
	struct launch_stack
		*calls; /* of the thread at hand, that its spans are still to come for: */
	struct launch_stack own_calls; /* of one that is not spooled */
	struct line ordered; /* the same on their way to the spool; without a name */
	struct xspace_events encoder;
	struct xspace_events plain_encoder; /* of events without stats */
	struct spool *spool; /* borrowed; NULL: nothing is spooled */
	bool gives_slots; /* those that are spooled now, to the spool */
	struct part_writer *writer; /* borrowed; NULL: who adds writes to the spool, too */
	struct memory_budget *keep; /* borrowed, or |no_limit| */
	struct memory_budget no_limit;
	size_t n_line_stats; /* of the plane's: those of lines that are complete */
	size_t n_line_text_bytes; /* likewise, of the plane's own_texts */
	uint64_t n_invalid; /* entries that made no sense */
	uint64_t n_undated; /* that nobody knows when they were written */
	uint64_t n_dropped; /* marks and samples that memory had no room for */
	const _Atomic int *cancel; /* raised: the plane is not wanted any more; NULL ok */
	int error; /* -ENOMEM, and stays so, or -ECANCELED */
};

/* |target| is borrowed. No record ended before |earliest_ticks|. Owner: *out belongs to the caller. 0 or -ENOMEM. */
int assembly_new(struct target *target, uint64_t earliest_ticks, uint64_t start_ticks,
	struct assembly **out);
/* From here on events can be spooled; both are borrowed. */
void assembly_set_spool(struct assembly *as, struct spool *spool, struct memory_budget *keep);
/* Of that spool: it gets what is spooled and has no stats. Borrowed. */
void assembly_set_writer(struct assembly *as, struct part_writer *writer);
struct assembly *assembly_free(struct assembly *as); /* NULL ok; returns NULL */

/* Of the slots that are added next, and of no others: of a log that has some. They are borrowed. */
void assembly_set_eras(struct assembly *as, const struct era *eras, size_t n_eras);

/* Decodes |slots|: events, in the order of their ends, go to as->events; the rest where it belongs. 0 or as->error. */
int assembly_add(struct assembly *as, const struct slot *slots, size_t n_slots);

/*
 * The last of the thread whose slots were added: the spans that were open at |stop_ticks|, cut at |cut_ticks|, not later, or when
 * their thread ended. The innermost comes first, as if they ended now.
 */
int assembly_add_open(
	struct assembly *as, const struct thread_log *log, uint64_t stop_ticks, uint64_t cut_ticks);

/*
 * As assembly_add(), for a thread whose events go to as->spool: |track|. With as->gives_slots that gets the slots, too, when
 * they were read: spool_take_used() was called with them.
 */
int assembly_spool(
	struct assembly *as, struct track *track, const struct slot *slots, size_t n_slots);
/* Moves as->events there. */
int assembly_flush(struct assembly *as, struct track *track);

#endif
