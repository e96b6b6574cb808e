/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots of the flight recorder, one at a time: the worker copies the rings, and another thread
 * makes from the copy the trace and its delivery.
 *
 * Threads: only the worker calls these; |on_made| is called on the maker's thread, |deliver| on
 * that or the worker's.
 */
#ifndef DAEMON_RECORDER_SNAPSHOT_H
#define DAEMON_RECORDER_SNAPSHOT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct capture_result;
struct diag;
struct recorder;
struct recording;

/* The request of a snapshot. */
struct recorder_wish {
	uint64_t last_ms; /* 0: all records */
	uint64_t max_xspace_bytes; /* the most that |deliver| can take; 0: any number */
	/* goes into the trace when no client asked for it; borrowed until |deliver|. NULL: none */
	const char *reason;
	const char *warning; /* goes into the trace, borrowed in the same way; NULL: none */
	/* Gets a result like that of capture_run(), once, on any thread; |r| is 0 or -ENOMEM. */
	void (*deliver)(void *context, int r, struct capture_result *result, struct diag *d);
	void *context;
};

/* All zero: idle. */
struct recorder_snapshot {
	struct recorder *recorder; /* lent to the snapshot that is being made */
	struct recorder_wish wish;
	struct recording *part;
	pthread_t maker;
	bool has_maker;
	_Atomic bool is_made; /* the thread is about to end */
	void (*on_made)(void *context); /* called last on that thread; NULL ok */
	void *context;
};

/* True when no snapshot is being made. */
bool recorder_snapshot_is_ready(struct recorder_snapshot *s);
/* Waits until no snapshot is being made. */
void recorder_snapshot_wait(struct recorder_snapshot *s);
/* Takes a snapshot of |r|. Called only when recorder_snapshot_is_ready(). */
void recorder_snapshot_take(
	struct recorder_snapshot *s, struct recorder *r, const struct recorder_wish *wish);

#endif
