/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a run, in its directory |dir_fd|: regular ones whose names can be told. No link is followed.
 *
 * Threads: any.
 */
#ifndef DAEMON_RUN_FILES_H
#define DAEMON_RUN_FILES_H

#include <dirent.h>
#include <stdint.h>
#include <sys/stat.h>

struct json;
struct run_state;

/* |dir_fd| to be walked, which stays as it is; NULL with errno. */
DIR *run_files_walk(int dir_fd);

/* When a file was written, in Unix time. */
int64_t run_files_get_time_ns(const struct stat *st);

/* Whether |name| is one: 1, and what it is. */
int run_files_look_at(int dir_fd, const char *name, struct stat *st);

/* The caller's descriptor of |name|, and its size; -1: there is no such file. */
int run_files_open(int dir_fd, const char *name, uint64_t *n_bytes);

/* The list "files"; in |state| what they amount to, and when the youngest was written. */
void run_files_write(int dir_fd, struct run_state *state, struct json *j);

/* Removes whatever lies there. 0 or a negative errno; adds to *n_bytes the sizes of what is gone. */
int run_files_remove(int dir_fd, uint64_t *n_bytes);

#endif
