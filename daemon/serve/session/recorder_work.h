/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's part of the flight recorder while the program lives: it serves requests
 * (recorder_asks.h, ptap_snapshot()) and triggers. It is made with the first recorder, and stays
 * until the worker's end.
 *
 * Threads: the worker's, that which greets the target.
 */
#ifndef DAEMON_RECORDER_WORK_H
#define DAEMON_RECORDER_WORK_H

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
	unsigned n_exits; /* of the family, as of the last look */
	char reason[160]; /* of the first whose run is not begun yet; "": none */
	unsigned n_more; /* that have no run of their own, since the last run was begun */
	int64_t minute_from_ns; /* CLOCK_MONOTONIC, the first run of this minute; 0: there was none */
	unsigned n_runs; /* begun in this minute */
};

struct recorder_work {
	struct session *session;
	struct recorder recorder;
	struct trigger_scan scan;
	struct recorder_snapshot snapshot;
	struct recorder_run run;
	struct child_crashes crashes;
	int is_last; /* the snapshot that is being made: off afterwards */
	int was_on; /* until recorder_work_has_used_rings() says so */
	int is_held; /* the program has died: see recorder_end.h */
};

/*
 * Before the hello of a program that asks for a recorder: turns it on. 0, -EINVAL with |d|: its
 * options are wrong; others.
 */
int recorder_work_begin(struct session *s, struct diag *d);

/* To be called often; |is_capturing|: a capture runs on this thread. */
void recorder_work_look(struct session *s, int is_capturing);
/* When it is to be called at the latest, CLOCK_MONOTONIC ns, or INT64_MAX. */
int64_t recorder_work_get_due(const struct session *s);
int recorder_work_is_on(const struct session *s);
/*
 * Whether it is on, or was since the last time this was asked: it may be turned on and off in one
 * look.
 */
int recorder_work_has_used_rings(struct session *s);

/* For recorder_asks.h and recorder_end.h. */

/* 0, or a negative errno, with |d| unless it is -ENOMEM. */
int recorder_work_turn_on(struct session *s, const struct profile_options *o, struct diag *d);
void recorder_work_turn_off(struct recorder_work *w);
/* Tells clients and the program whether the recorder is on. */
void recorder_work_tell(struct session *s, int is_on);
/*
 * Whether a snapshot can be begun: none is being made. One that was the last has turned the
 * recorder off.
 */
int recorder_work_is_ready(struct session *s);
/*
 * Takes why the program has asked for a snapshot (ptap_snapshot()), made printable. 1, or 0: it has
 * not.
 */
int recorder_work_take_why(struct recorder_work *w, char *why, size_t size);
/* Begins a snapshot for w->run. */
void recorder_work_begin_run(struct recorder_work *w);

#endif
