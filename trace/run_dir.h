/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run directory as XProf finds it, <log_dir>/plugins/profile/<run>/<host>.xplane.pb, and the one
 * file that a capture publishes there. Everything that can fail because of the place fails in
 * run_dir_open(), before anything is recorded: it makes the directories and opens the temporary file.
 */
#ifndef TRACE_RUN_DIR_H
#define TRACE_RUN_DIR_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct diag;

struct run_dir {
	char *log_dir; /* as given, without '/' at the end */
	char *run; /* the name */
	char *path; /* of the run directory */
	char *temporary; /* path of the temporary file; NULL: none */
	int fd; /* of the temporary file, or -1 */
	int dir_fd; /* of one that was adopted, or -1 */
	size_t n_kept; /* length of the part of |path| that was there before */
};

#define RUN_DIR_MAX_SUFFIX 10000 /* of a name that is taken: NAME_2 and so on, below this */

#define RUN_DIR_INIT                              \
	{                                         \
		NULL, NULL, NULL, NULL, -1, -1, 0 \
	}

/*
 * |run| NULL: a new directory named after |now| in local time, with a suffix _2 and so on when it
 * exists; else that one, new or not. 0, or a negative errno with |d| filled (nothing stays behind).
 */
int run_dir_open(
	struct run_dir *r, const char *log_dir, const char *run, time_t now, struct diag *d);

/* The same with the run directory |dir_fd| (taken, also on failure), wherever it is: it is not looked up again. */
int run_dir_adopt(struct run_dir *r, int dir_fd, struct diag *d);

/*
 * Has the file |fd|, which has no name and may have one (linkat(2)), take the place of the temporary file, into which nothing was
 * written yet; what is written later follows. |fd| stays the caller's, who no longer writes to it. 0, or a negative errno: then
 * the temporary file is as it was.
 */
int run_dir_link(struct run_dir *r, int fd);

/* Appends to the temporary file. */
int run_dir_write(struct run_dir *r, const uint8_t *data, size_t n, struct diag *d);

/*
 * Goes on in the run of the same name below |log_dir|, with the first |n_bytes| of the temporary file. The old file is gone, and
 * the directories that were made for it. On failure all is as it was.
 */
int run_dir_move(struct run_dir *r, const char *log_dir, uint64_t n_bytes, struct diag *d);

/*
 * Syncs the temporary file and gives it the name <host>.xplane.pb (|host| made a file name first),
 * never over an existing one (-EEXIST: another name may be tried). *path_out is the file's path; the caller frees it.
 */
int run_dir_publish(struct run_dir *r, const char *host, char **path_out, struct diag *d);

/*
 * Keeps the temporary file as <host>.xplane.pb.broken (or .broken_2 and so on): what no viewer should
 * find and a person may want to see. As run_dir_publish().
 */
int run_dir_set_aside(struct run_dir *r, const char *host, char **path_out, struct diag *d);

/* -EEXIST with |d| when the file that run_dir_publish() would make is there already. */
int run_dir_check_free(const struct run_dir *r, const char *host, struct diag *d);

/* Removes what was not published: the temporary file and the directories made for it, if empty. */
void run_dir_close(struct run_dir *r);

/* Characters outside [A-Za-z0-9._-] become '_', as does a dot at the front. In place. */
void run_dir_sanitise(char *name);

/* Whether |name| can be a run: [A-Za-z0-9._-], at most 127, not beginning with a dot. */
int run_dir_check_name(const char *name, struct diag *d);

#endif
