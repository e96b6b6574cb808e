/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a snapshot of the flight recorder as a run in the operator's directory, with its reason:
 * the program's request, a trigger or a crash. Only one run is written at a time.
 *
 * Threads: any may call recorder_run_deliver(). Only the worker calls the other functions; while
 * recorder_run_deliver() runs, the worker calls none but recorder_run_note_rights().
 */
#ifndef DAEMON_RECORDER_RUN_H
#define DAEMON_RECORDER_RUN_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/diag.h"

struct capture_result;
struct repository;
struct target;

struct recorder_run {
	struct target *target;
	const struct repository *repository; /* NULL: none */
	_Atomic int may_write; /* the result of the last check; see rights.h */
	char reason[320];
	char warning[640]; /* "": none */
	char trouble[640]; /* why runs cannot be written; "": the last run was written */
	int outcome; /* 0, or why the last run was not written; -ENODATA: it was empty */
	void (*on_written)(void *context); /* called on failure, too; NULL ok */
	void *context;
};

void recorder_run_init(
	struct recorder_run *run, struct target *t, const struct repository *repository);
/* Returns true if the operator named a directory for runs. */
bool recorder_run_has_place(const struct recorder_run *run);
/*
 * Tests whether the directory, if there is one, can be written to. Returns 0; or -EACCES, -ENOSPC,
 * -ENOMEM, or -EIO for all other reasons, with |d|. Until a run is written, ptap_snapshot()
 * returns the error, and snapshots for clients have it as a warning.
 */
int recorder_run_try(struct recorder_run *run, struct diag *d);
/* While the program lives, notes in |may_write| whether runs may be written after its death. */
void recorder_run_note_rights(struct recorder_run *run);

/*
 * The |deliver| of recorder_snapshot.h; |context| is the run. Writes the result's delivery, frees
 * it, and logs the outcome.
 */
void recorder_run_deliver(void *context, int r, struct capture_result *result, struct diag *d);

#endif
