/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots of the flight recorder, one at a time: the worker copies what the rings hold, another thread makes trace and
 * delivery of it.
 *
 * Threads: the worker's, but for |deliver|.
 */
#ifndef DAEMON_RECORDER_SNAPSHOT_H
#define DAEMON_RECORDER_SNAPSHOT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture_result;
struct diag;
struct recorder;
struct recording;

/* What is wanted. */
struct recorder_wish {
	uint64_t last_ms; /* 0: all there is */
	uint64_t max_xspace_bytes; /* that |deliver| can take; 0: any number */
	const char *
		reason; /* of one that no client asked for, goes into the trace; borrowed until |deliver|. NULL: none */
	const char *warning; /* goes into the trace, too, in the same way; NULL: none */
	/* Gets a result as of capture_run(), once, on any thread; |r| is 0 or -ENOMEM. */
	void (*deliver)(void *context, int r, struct capture_result *result, struct diag *d);
	void *context;
};

/* All zero: idle. */
struct recorder_snapshot {
	struct recorder *recorder; /* lends what is being made */
	struct recorder_wish wish;
	struct recording *part;
	pthread_t maker;
	bool has_maker;
	_Atomic bool is_made; /* the thread is about to end */
	void (*on_made)(void *context); /* on that thread, the last that it does; NULL ok */
	void *context;
};

/* Whether nothing is being made. */
bool recorder_snapshot_is_ready(struct recorder_snapshot *s);
/* Waits until that is so. */
void recorder_snapshot_wait(struct recorder_snapshot *s);
/* Of what |r| holds now. To be called when it is ready. */
void recorder_snapshot_take(
	struct recorder_snapshot *s, struct recorder *r, const struct recorder_wish *wish);

#endif
