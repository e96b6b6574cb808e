/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs of the log directory (docs/http-api.md, "Runs"): looking them up, writing them as JSON,
 * and deleting them. A caller gives a single name, which is looked up in the opened directory of
 * all runs; no link is followed.
 *
 * Threads: any.
 */
#ifndef DAEMON_RUNS_H
#define DAEMON_RUNS_H

#include <stdint.h>
#include <sys/types.h>

#include "daemon/host/web/run_facts.h"

struct caller;
struct diag;
struct hub;
struct json;

#define RUNS_DIR_BYTES 512
/* The limit of runs in a list, which has the youngest ones. */
#define RUNS_LISTED 1000u

struct runs {
	char log_dir[RUNS_DIR_BYTES]; /* absolute; "": there is none */
	struct hub *hub; /* borrowed */
	struct run_facts_cache facts;
	/* Called for each run that is written as JSON and whose facts are not known; any thread. */
	void (*want)(void *context, const struct run_state *state);
	void *context;
};

/*
 * |log_dir| is the setting. If it is "", the runs are in $STATE_DIRECTORY, which systemd sets;
 * else, for root, in /var/lib/proftap, and for others in proftap below $XDG_STATE_HOME or
 * ~/.local/state.
 */
void runs_init(struct runs *r, const char *log_dir, struct hub *hub);

const char *runs_get_log_dir(const struct runs *r); /* NULL: there is none */

/* Each function up to runs_delete() returns 0, or a gRPC status with |d|. */

/* Checks that a capture can write the run |name|; "" is always a new run. */
int runs_check_new(const struct runs *r, const char *name, struct diag *d);

/* Opens the directory of a run. *fd is the caller's. */
int runs_open(const struct runs *r, const struct caller *caller, const char *name, int *fd,
	struct diag *d);
/* Opens a file of a run. *fd is the caller's. */
int runs_open_file(const struct runs *r, const struct caller *caller, const char *name,
	const char *file, int *fd, uint64_t *n_bytes, struct diag *d);

/* Writes the members of the list of all runs that the caller may see, and of one run. */
int runs_write_all(struct runs *r, const struct caller *caller, struct json *j, struct diag *d);
int runs_write(struct runs *r, const struct caller *caller, const char *name, struct json *j,
	struct diag *d);

/* Removes a run and its files, which had *n_bytes. */
int runs_delete(struct runs *r, const struct caller *caller, const char *name, uint64_t *n_bytes,
	struct diag *d);

/* Sends a run that was written, or whose facts have become known, to streams of events. */
void runs_tell(struct runs *r, const char *name);

#endif
