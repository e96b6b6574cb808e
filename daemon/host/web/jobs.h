/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The captures that were asked for by HTTP: those that run, and the last ones that are over.
 *
 * Threads: any, unless it says otherwise.
 */
#ifndef DAEMON_JOBS_H
#define DAEMON_JOBS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct caller;
struct diag;
struct host_service;
struct hub;
struct job;
struct json;
struct runs;

/* That are over. */
#define JOBS_KEPT 100u

struct jobs {
	pthread_mutex_t mutex;
	pthread_cond_t changed; /* a thread has ended; CLOCK_MONOTONIC */
	struct job *first; /* the youngest */
	uint64_t last_id;
	unsigned n_threads;
	int is_ending;
	struct host_service *host; /* borrowed, as all below: programs, and the machine */
	struct hub *hub;
	struct runs *runs;
};

void jobs_init(struct jobs *jobs, struct host_service *host, struct hub *hub, struct runs *runs);
/* When all have ended (jobs_end.h). */
void jobs_deinit(struct jobs *jobs);

/* Writes the members of a job that the caller may see. 0, or RPC_NOT_FOUND with |d|. */
int jobs_write(struct jobs *jobs, const struct caller *caller, uint64_t id, struct json *json,
	struct diag *d);
/* Writes all jobs that the caller may see as elements of a list, the youngest first. */
void jobs_write_all(struct jobs *jobs, const struct caller *caller, struct json *json);

/* Has one end early. 0; RPC_NOT_FOUND, or RPC_FAILED_PRECONDITION when it is over, with |d|. */
int jobs_stop(struct jobs *jobs, const struct caller *caller, uint64_t id, struct diag *d);
/* Gives it up, if it is not over, and forgets it. 0 or RPC_NOT_FOUND with |d|. */
int jobs_delete(struct jobs *jobs, const struct caller *caller, uint64_t id, struct diag *d);

/* The job's thread: it has changed it; whoever listens is told. Under the mutex. */
void jobs_tell(struct jobs *jobs, const struct job *job);
/* The job's thread ends: |job| is not its any more. */
void jobs_leave(struct jobs *jobs, struct job *job);

/* 1 while one that is not over writes the run. */
int jobs_has_run(struct jobs *jobs, const char *run);

#endif
