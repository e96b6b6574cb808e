/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run directory, in which XProf finds <log_dir>/plugins/profile/<run>/<host>.xplane.pb, and the
 * one file that a capture publishes there. run_dir_open() makes the directories and opens the
 * temporary file, so that a bad place fails before anything is recorded.
 */
#ifndef TRACE_RUN_DIR_H
#define TRACE_RUN_DIR_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct diag;

struct run_dir {
	char *log_dir; /* without '/' at the end */
	char *run; /* name of the run */
	char *path; /* path of the run directory */
	char *temporary; /* path of the temporary file; NULL: none */
	int fd; /* descriptor of the temporary file, or -1 */
	int dir_fd; /* descriptor of an adopted run directory, or -1 */
	size_t n_kept; /* length of the part of |path| that existed before */
};

#define RUN_DIR_MAX_SUFFIX 10000 /* limit of suffixes: a taken name becomes NAME_2 and so on */

#define RUN_DIR_INIT                              \
	{                                         \
		NULL, NULL, NULL, NULL, -1, -1, 0 \
	}

/*
 * Opens the run |run|, new or existing; NULL: a new one, named after |now| in local time, with a
 * suffix _2 and so on if that exists. 0, or a negative errno with |d| (then nothing stays behind).
 */
int run_dir_open(
	struct run_dir *r, const char *log_dir, const char *run, time_t now, struct diag *d);

/*
 * Opens the run directory |dir_fd|, which is taken, also on failure. Its path is not looked up
 * again.
 */
int run_dir_adopt(struct run_dir *r, int dir_fd, struct diag *d);

/*
 * Replaces the temporary file, which must be empty, by the file |fd|, which has no name and can get
 * one (linkat(2)). Later writes go behind its end. |fd| still belongs to the caller, who must not
 * write to it any more. 0, or a negative errno: then the temporary file is unchanged.
 */
int run_dir_link(struct run_dir *r, int fd);

/* Appends to the temporary file. 0, or a negative errno with |d|. */
int run_dir_write(struct run_dir *r, const uint8_t *data, size_t n, struct diag *d);

/*
 * Moves the first |n_bytes| of the temporary file to the run of the same name below |log_dir|. The
 * old file and the directories that were made for it are removed. On failure nothing changes.
 */
int run_dir_move(struct run_dir *r, const char *log_dir, uint64_t n_bytes, struct diag *d);

/*
 * Syncs the temporary file, and names it <host>.xplane.pb (|host| is made a file name first). An
 * existing file is never replaced: -EEXIST, and the caller may try another name. *path_out is the
 * file's path; the caller frees it.
 */
int run_dir_publish(struct run_dir *r, const char *host, char **path_out, struct diag *d);

/*
 * Keeps the temporary file as <host>.xplane.pb.broken (or .broken_2 and so on), which viewers do
 * not find, but a person may want to see. Otherwise like run_dir_publish().
 */
int run_dir_set_aside(struct run_dir *r, const char *host, char **path_out, struct diag *d);

/* Returns -EEXIST with |d| if the file that run_dir_publish() would make exists already. */
int run_dir_check_free(const struct run_dir *r, const char *host, struct diag *d);

/* Removes an unpublished temporary file, and the directories made for it, if they are empty. */
void run_dir_close(struct run_dir *r);

/* Replaces characters outside [A-Za-z0-9._-], and a dot at the front, by '_', in place. */
void run_dir_sanitise(char *name);

/*
 * 0, or -EINVAL with |d| if |name| cannot be a run: it must be at most 127 of [A-Za-z0-9._-], and
 * not begin with a dot.
 */
int run_dir_check_name(const char *name, struct diag *d);

/* --- the temporary file ----------------------------------------------------------------------- */

/* The temporary file of a run directory. */

/* Makes the temporary file in r->path. 0, or a negative errno with |d|. */
int run_dir_open_file(struct run_dir *r, struct diag *d);

/*
 * Fills |d| with what happened to |path|, and what to do about it; returns |error|, a negative
 * errno.
 */
int run_dir_fail(struct diag *d, int error, const char *path, const char *what);

#endif
