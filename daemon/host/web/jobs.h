/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs (job.h): captures that came by HTTP and still run, and the last ones that are over.
 *
 * Threads: any, unless a comment says otherwise.
 */
#ifndef DAEMON_JOBS_H
#define DAEMON_JOBS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct caller;
struct diag;
struct host_service;
struct hub;
struct job;
struct json;
struct runs;
struct web_capture;

/* The limit of jobs that are kept after their end. */
#define JOBS_KEPT 100u
/* The limits of jobs that run at a time: of all users, and of one user who is no operator. */
#define JOBS_MAX_RUNNING 16u
#define JOBS_MAX_OF_USER 4u

struct jobs {
	pthread_mutex_t mutex;
	pthread_cond_t changed; /* a thread has ended; CLOCK_MONOTONIC */
	struct job *first; /* the youngest */
	uint64_t last_id;
	unsigned n_threads;
	bool is_ending;
	struct host_service *host; /* has the programs and the machine; borrowed, like all below */
	struct hub *hub;
	struct runs *runs;
};

void jobs_init(struct jobs *jobs, struct host_service *host, struct hub *hub, struct runs *runs);

/*
 * Begins a capture, if there is room for one more: 0 and its id, or a gRPC status with |d|. Takes
 * |request| in any case.
 */
int jobs_begin(struct jobs *jobs, const struct caller *caller, struct web_capture *request,
	uint64_t *id, struct diag *d);

/* Writes all members of a job, if the caller may see it. 0, or RPC_NOT_FOUND with |d|. */
int jobs_write(struct jobs *jobs, const struct caller *caller, uint64_t id, struct json *json,
	struct diag *d);
/* Writes all jobs that the caller may see as elements of a list, the youngest first. */
void jobs_write_all(struct jobs *jobs, const struct caller *caller, struct json *json);

/*
 * Asks a job to end early, with its data. 0; RPC_NOT_FOUND, or RPC_FAILED_PRECONDITION when the job
 * is over, with |d|.
 */
int jobs_stop(struct jobs *jobs, const struct caller *caller, uint64_t id, struct diag *d);
/* Forgets a job, and cancels it if it is not over. 0 or RPC_NOT_FOUND with |d|. */
int jobs_delete(struct jobs *jobs, const struct caller *caller, uint64_t id, struct diag *d);

/* Sends the job's new state to streams of events. The caller has the mutex. */
void jobs_tell(struct jobs *jobs, const struct job *job);
/* Drops the reference of the job's thread, which calls this at its end. */
void jobs_leave(struct jobs *jobs, struct job *job);

/* Returns true while a job that is not over writes the run. */
bool jobs_has_run(struct jobs *jobs, const char *run);

/* --- the end of the daemon -------------------------------------------------------------------- */

/* Refuses new jobs, and ends those that still wait for a program. */
void jobs_refuse(struct jobs *jobs);
/* Returns the number of jobs whose threads still run. */
unsigned jobs_count(struct jobs *jobs);
/* Asks all jobs to end, with their data. */
void jobs_stop_all(struct jobs *jobs);
/*
 * Refuses new jobs, asks all jobs to end, with their data, and waits for them at most |grace_ms|.
 * Returns the number of jobs whose threads still run.
 */
unsigned jobs_finish(struct jobs *jobs, int64_t grace_ms);

#endif
