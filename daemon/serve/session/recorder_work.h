/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's part of the flight recorder while the program lives. It serves triggers and the
 * requests of calls (session_recorder.h) and of the program (ptap_snapshot()). It is made for the
 * first recorder, and stays until the worker's end.
 *
 * Threads: the worker's.
 */
#ifndef DAEMON_RECORDER_WORK_H
#define DAEMON_RECORDER_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/pipeline/recording/recorder.h"
#include "daemon/pipeline/recording/recorder_snapshot.h"
#include "daemon/serve/session/recorder_run.h"
#include "daemon/serve/session/trigger_scan.h"

struct diag;
struct profile_options;
struct session;

/* Followed children that a signal has ended while the program lives. */
struct child_crashes {
	unsigned n_exits; /* exits of children in the family, at the last check */
	char reason[160]; /* of the first crash without a run yet; "": none */
	unsigned n_more; /* further crashes since the last run was begun, which get no run */
	int64_t minute_from_ns; /* CLOCK_MONOTONIC, the start of this minute; 0: no run yet */
	unsigned n_runs; /* begun in this minute */
};

struct recorder_work {
	struct session *session;
	struct recorder recorder;
	struct trigger_scan scan;
	struct recorder_snapshot snapshot;
	struct recorder_run run;
	struct child_crashes crashes;
	bool is_last; /* the recorder is turned off after the snapshot that is being made */
	bool was_on; /* it was on since the last recorder_work_has_used_rings() */
	bool is_held; /* the program has died; see recorder_end.h */
};

/*
 * Turns on the recorder that the program requested, before the server answers the program's hello.
 * 0; -EINVAL with |d|: its options are wrong; or another negative errno.
 */
int recorder_work_begin(struct session *s, struct diag *d);

/* Serves requests and triggers; called often. |is_capturing|: a capture runs on this thread. */
void recorder_work_poll(struct session *s, bool is_capturing);
/* Returns when recorder_work_poll() is due at the latest, CLOCK_MONOTONIC ns, or INT64_MAX. */
int64_t recorder_work_get_due(const struct session *s);
/*
 * Returns true if the recorder is on or was on since the last call. One recorder_work_poll() may
 * turn it on and off.
 */
bool recorder_work_has_used_rings(struct session *s);

/* Functions for session_recorder.c and recorder_end.c. */

/* 0, or a negative errno, with |d| unless it is -ENOMEM. */
int recorder_work_turn_on(struct session *s, const struct profile_options *o, struct diag *d);
void recorder_work_turn_off(struct recorder_work *w);
/* Makes the state of the recorder, on or off, visible to clients and to the program. */
void recorder_work_tell(struct session *s, bool is_on);
/*
 * Returns true if a snapshot can be begun, because none is being made. If the snapshot that has
 * ended was to be the recorder's last (is_last), turns the recorder off first.
 */
bool recorder_work_is_ready(struct session *s);
/*
 * Takes the reason of a ptap_snapshot(), and makes it printable. Returns true if the program has
 * called that function.
 */
bool recorder_work_take_why(struct recorder_work *w, char *why, size_t size);
/* Begins a snapshot for w->run. */
void recorder_work_begin_run(struct recorder_work *w);

#endif
