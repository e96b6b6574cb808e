/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress of a recording. The worker writes it, any thread reads it. The functions accept
 * NULL: then no progress is kept.
 */
#ifndef DAEMON_PROGRESS_H
#define DAEMON_PROGRESS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/clock.h"

/* The values are those of proftap.v1.Phase. */
enum progress_phase {
	PROGRESS_WAITING = 0, /* for its start time */
	PROGRESS_RECORDING = 1,
	PROGRESS_COLLECTING = 2, /* recorded; the trace is being made */
};

struct progress {
	_Atomic int phase;
	_Atomic int64_t begun_ns; /* CLOCK_MONOTONIC; set before |phase| */
	_Atomic int64_t ended_ns; /* CLOCK_MONOTONIC; while it records: the latest possible end */
	_Atomic uint64_t recorded_bytes; /* of raw records so far */
	_Atomic uint64_t spooled_bytes; /* the share of those on disk */
};

static inline void progress_begin(struct progress *p, int64_t begun_ns, int64_t end_ns)
{
	if (!p)
		return;
	atomic_store(&p->begun_ns, begun_ns);
	atomic_store(&p->ended_ns, end_ns);
	atomic_store(&p->phase, PROGRESS_RECORDING);
}

static inline void progress_note(
	struct progress *p, uint64_t recorded_bytes, uint64_t spooled_bytes)
{
	if (!p)
		return;
	atomic_store(&p->recorded_bytes, recorded_bytes);
	atomic_store(&p->spooled_bytes, spooled_bytes);
}

static inline void progress_end(struct progress *p, int64_t ended_ns)
{
	if (!p)
		return;
	atomic_store(&p->ended_ns, ended_ns);
	atomic_store(&p->phase, PROGRESS_COLLECTING);
}

/* The time for which the recording has run so far. */
static inline uint64_t progress_get_elapsed_ns(const struct progress *p)
{
	int phase = atomic_load(&p->phase);
	int64_t ended_ns = atomic_load(&p->ended_ns);
	int64_t now_ns = monotonic_ns();

	if (phase == PROGRESS_WAITING)
		return 0;
	/* The worker may end the recording late; later records are left out. */
	if (phase == PROGRESS_RECORDING && now_ns < ended_ns)
		ended_ns = now_ns;
	return (uint64_t)(ended_ns - atomic_load(&p->begun_ns));
}

#endif
