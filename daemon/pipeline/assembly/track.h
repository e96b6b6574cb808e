/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A track is a line whose events are too many for memory. It consists of runs of encoded
 * events in a spool, and of the stragglers that belong between these events. The events of a run
 * are in order, and belong behind those of the run before.
 */
#ifndef DAEMON_TRACK_H
#define DAEMON_TRACK_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/devices/launches.h"
#include "trace/model/space.h"

struct memory_budget;
struct spool;
struct xspace_events;

/*
 * An encoded event that was written too late: its span ended after a run was closed, and belongs
 * before that run's last event.
 */
struct straggler {
	struct trace_event event; /* its times determine the straggler's place */
	size_t at; /* index of its bytes */
	uint32_t n_bytes;
	uint32_t round; /* stragglers of one round were added together, in their order */
};

/* All zero is the empty state. Stragglers stay in memory until the trace is delivered. */
struct stragglers {
	struct straggler *v;
	size_t n;
	size_t n_allocated;
	uint8_t *bytes;
	size_t n_bytes;
	size_t n_bytes_allocated;
	uint32_t round; /* of the next stragglers */
};

/* A run has some tens of kilobytes of events: one run is read to find the place of a straggler. */
struct track_run {
	uint64_t offset; /* in the spool */
	uint32_t n_bytes;
	uint32_t n_events;
	struct trace_event last; /* the times of its last event */
	int64_t end_ns; /* the latest end of its events */
};

struct track {
	struct track_run *runs;
	size_t n_runs;
	size_t n_runs_allocated;
	size_t first_run; /* earlier ones were dropped */
	struct stragglers stragglers;
	struct launch_stack calls; /* calls of its thread that wait for the spans around them */
	uint32_t thread; /* number of the thread in its assembly; 0: none yet */
	uint64_t n_bytes; /* of all events */
	uint64_t n_events;
	uint64_t n_dropped; /* events for which neither the spool nor memory had room */
};

/* A track whose runs go to |spool|, which owns it. NULL when memory ran out. */
struct track *track_new(struct spool *spool);

/*
 * Appends |n| events, which are in order. Events that belong before the last event of an earlier
 * append are few, and stay in memory. Events for which there is no room are counted. 0 or -ENOMEM.
 */
int track_append(struct track *t, struct xspace_events *x, const struct trace_event *events,
	size_t n, struct spool *spool, struct memory_budget *keep);

/* Puts the stragglers in order when all events were appended. */
void track_finish(struct track *t);

/* Drops the oldest run; there must be one. Returns the number of its events. */
uint64_t track_drop_oldest(struct track *t);

/*
 * Reads the events of a finished track in their order: pieces of its runs with the stragglers
 * between them.
 */
struct track_reader {
	const struct track *track;
	const struct spool *spool;
	size_t run; /* index of the next run */
	uint32_t at; /* bytes of that run that were read */
	size_t straggler; /* index of the next straggler */
	uint8_t *room; /* for a run in which a straggler's place is searched */
	size_t room_bytes;
};

/* Bytes of a track, in memory or in the spool. */
struct track_piece {
	const uint8_t *bytes; /* NULL: in the spool */
	uint64_t offset;
	uint64_t n_bytes; /* > 0 */
};

/* |track| is finished; |track| and |spool| outlive the reader. */
void track_reader_init(
	struct track_reader *m, const struct track *track, const struct spool *spool);
void track_reader_deinit(struct track_reader *m);

/* Returns 1 with a piece as long as possible, 0 at the end, or a negative errno. */
int track_reader_next(struct track_reader *m, struct track_piece *out);

#endif
