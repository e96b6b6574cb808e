/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs of the log directory (docs/http-api.md, "Runs"). What a caller says is a single name, looked up in the directory that was opened
 * before it; no link is followed.
 *
 * Threads: any.
 */
#ifndef DAEMON_RUNS_H
#define DAEMON_RUNS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/host/web/run_facts.h"

struct caller;
struct diag;
struct hub;

#define RUNS_DIR_BYTES 512

struct runs {
	char log_dir[RUNS_DIR_BYTES]; /* absolute; "": there is none */
	struct hub *hub; /* borrowed */
	struct run_facts_cache facts;
	/* Told of each that is looked at, and whose facts are not known; any thread. */
	void (*want)(void *context, const struct run_state *state);
	void *context;
};

/*
 * |log_dir| is the setting; "": $STATE_DIRECTORY, which systemd gives; else of root /var/lib/proftap, and of others proftap in
 * $XDG_STATE_HOME or ~/.local/state.
 */
void runs_init(struct runs *r, const char *log_dir, struct hub *hub);
void runs_deinit(struct runs *r);

const char *runs_get_log_dir(const struct runs *r); /* NULL: there is none */

/* Each of the below: 0, or a gRPC status with |d|. */

/* Whether a capture can write the run |name|; "": a new one. */
int runs_check_new(const struct runs *r, const char *name, struct diag *d);

/* *fd is the caller's, or, of a run, its directory's. */
int runs_open(const struct runs *r, const struct caller *caller, const char *name, int *fd,
	struct diag *d);
int runs_open_file(const struct runs *r, const struct caller *caller, const char *name,
	const char *file, int *fd, uint64_t *n_bytes, struct diag *d);

/* Removes its files, *n_bytes in all, and it. */
int runs_delete(struct runs *r, const struct caller *caller, const char *name, uint64_t *n_bytes,
	struct diag *d);

/* The directory of all runs: the caller's descriptor, or a negative errno; -ENOENT: there are none yet. */
int runs_open_all(const struct runs *r);
/* |error| is another one of it: a gRPC status with |d|. */
int runs_fail_all(const struct runs *r, int error, struct diag *d);
/* One of them, by its name: its directory's descriptor, or -1. */
int runs_open_one(int all_fd, const char *name);
/* Whose a run is. */
uid_t runs_find_owner(int fd);

#endif
