/* SPDX-License-Identifier: Apache-2.0 */
/* The temporary file of a run directory. */
#ifndef TRACE_RUN_DIR_FILE_H
#define TRACE_RUN_DIR_FILE_H

struct diag;
struct run_dir;

/* Makes the temporary file in r->path. 0, or a negative errno with |d|. */
int run_dir_open_file(struct run_dir *r, struct diag *d);

/*
 * Fills |d| with what happened to |path|, and what to do about it; returns |error|, a negative
 * errno.
 */
int run_dir_fail(struct diag *d, int error, const char *path, const char *what);

#endif
