/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line whose events are too many for memory: runs of encoded events in a spool, each in order and behind the one
 * before, and the stragglers that belong between them.
 */
#ifndef DAEMON_TRACK_H
#define DAEMON_TRACK_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/assembly/stragglers.h"
#include "daemon/pipeline/devices/launches.h"
#include "trace/model/space.h"

struct memory_budget;
struct spool;
struct xspace_events;

/* Some tens of kilobytes: the place of a straggler is searched in one. */
struct run {
	uint64_t offset; /* in the spool */
	uint32_t n_bytes;
	uint32_t n_events;
	struct trace_event last; /* the times of its last event */
	int64_t end_ns; /* the latest end of all */
};

struct track {
	struct run *runs;
	size_t n_runs;
	size_t n_runs_allocated;
	size_t first_run; /* those before it are left out */
	struct stragglers stragglers;
	struct launch_stack calls; /* of its thread, that spans around them are still to come for */
	uint32_t thread; /* the number that its assembly gave it; 0: none yet */
	uint64_t n_bytes; /* of all events */
	uint64_t n_events;
	uint64_t n_dropped; /* events that neither the spool nor memory had room for */
};

/* A track whose runs go to |spool|, which owns it. NULL when memory ran out. */
struct track *track_new(struct spool *spool);

/*
 * Appends |n| events, which are in order. Those that come before the last event of an earlier append, few as a rule, stay
 * in memory. What there is no room for is counted. 0 or -ENOMEM.
 */
int track_append(struct track *t, struct xspace_events *x, const struct trace_event *events,
	size_t n, struct spool *spool, struct memory_budget *keep);

/* No more is appended: puts the stragglers in order. */
void track_finish(struct track *t);

/* Leaves out the oldest run that is left; there is one. Returns how many events it holds. */
uint64_t track_drop_oldest(struct track *t);

#endif
