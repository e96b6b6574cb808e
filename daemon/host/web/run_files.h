/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a run, in its directory |dir_fd|: regular ones whose names do not begin with a dot.
 * No link is followed. Beside the traces lies the daemon's note of the run, a file of its own.
 *
 * Threads: any.
 */
#ifndef DAEMON_RUN_FILES_H
#define DAEMON_RUN_FILES_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct job;
struct json;
struct run_state;

/* Opens |dir_fd|, which stays open, for readdir(). NULL with errno. */
DIR *run_files_walk(int dir_fd);

/* Returns the Unix time of a file's last change. */
int64_t run_files_get_time_ns(const struct stat *st);

/* Returns true if |name| is a file of the run, and fills |st|. */
bool run_files_stat(int dir_fd, const char *name, struct stat *st);

/* Opens |name|. Returns a descriptor that the caller owns, and the size; -1: no such file. */
int run_files_open(int dir_fd, const char *name, uint64_t *n_bytes);

/* Writes the list "files". Puts their total size, and the time of the youngest, into |state|. */
void run_files_write(int dir_fd, struct run_state *state, struct json *j);

/*
 * Removes all files in the directory, hidden ones as well; fails at a directory in it. 0 or a
 * negative errno. Adds the sizes of the removed files to *n_bytes.
 */
int run_files_remove(int dir_fd, uint64_t *n_bytes);

/* --- the daemon's note of a run --------------------------------------------------------------- */

/*
 * The note has the run's owner and the recorded programs. It counts only if this process's user
 * wrote it. The file's name begins with a dot, so that viewers ignore the file.
 */
#define RUN_NOTE_FILE ".proftap.json"

/* Best effort: a run without a note belongs to the owner of its directory. */
void run_note_write(const char *log_dir, const char *run, const struct job *job);

/* Returns true and the owner of the run, or false if there is no note that counts. */
bool run_note_read_owner(int dir_fd, uid_t *uid);
/* Writes the member "targets", an empty list if there is no note. */
void run_note_write_targets(int dir_fd, struct json *j);

#endif
