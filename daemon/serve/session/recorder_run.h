/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot of the flight recorder that no client asked for: a run in the operator's directory,
 * with its reason. One at a time.
 *
 * Threads: |recorder_run_deliver| on any; the rest on the worker's, and but for the look at the
 * rights not while that runs.
 */
#ifndef DAEMON_RECORDER_RUN_H
#define DAEMON_RECORDER_RUN_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/diag.h"

struct capture_result;
struct repository;
struct target;

struct recorder_run {
	struct target *target;
	const struct repository *repository; /* NULL: none */
	_Atomic int may_write; /* as of the last look; see rights.h */
	char reason[320];
	char warning[640]; /* "": none */
	/* why the last one that was to be written was not, or none can be; "": it was */
	char trouble[640];
	int outcome; /* of the last one: 0, or why it was not written; -ENODATA: there was nothing */
	void (*on_written)(void *context); /* or it could not be; NULL ok */
	void *context;
};

void recorder_run_init(
	struct recorder_run *run, struct target *t, const struct repository *repository);
/* Whether there is a place for it. */
int recorder_run_has_place(const struct recorder_run *run);
/*
 * Tries the place, if there is one; nothing stays there. 0, or with |d| -EACCES, -ENOSPC, -ENOMEM,
 * or -EIO for all other reasons: the program is told by ptap_snapshot(), and a snapshot that a
 * client takes says it, until a run is written.
 */
int recorder_run_try(struct recorder_run *run, struct diag *d);
/* Notes, while the program lives, whether its runs may be written after its death. */
void recorder_run_look_at_rights(struct recorder_run *run);

/*
 * The |deliver| of recorder_snapshot.h; |context| is the run. Takes the result's delivery. The
 * outcome goes to the journal.
 */
void recorder_run_deliver(void *context, int r, struct capture_result *result, struct diag *d);

#endif
