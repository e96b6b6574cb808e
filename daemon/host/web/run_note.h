/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the daemon notes of a run that it has written, in a file of its own beside the traces: whose it is, and which programs were
 * recorded. It counts only where this process's user wrote it.
 */
#ifndef DAEMON_RUN_NOTE_H
#define DAEMON_RUN_NOTE_H

#include <sys/types.h>

struct job;
struct json;

/* Beginning with a dot: no trace, and nothing that viewers look at. */
#define RUN_NOTE_FILE ".proftap.json"

/* Best effort: without it the run is of the daemon's own user. */
void run_note_write(const char *log_dir, const char *run, const struct job *job);

/* Of the run in the directory |dir_fd|: 1 and its owner; 0: there is none that counts. */
int run_note_read_owner(int dir_fd, uid_t *uid);
/* The member "targets", an empty list where nothing is noted. */
void run_note_write_targets(int dir_fd, struct json *j);

#endif
