/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture that was asked for by HTTP: what is known of it while it runs, and afterwards (docs/http-api.md, "Captures"). Its work is done by a
 * thread of its own (job_work.h).
 *
 * Threads: all but |stop| and |cancel| under the mutex of the jobs (jobs.h).
 */
#ifndef DAEMON_JOB_H
#define DAEMON_JOB_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/host/programs/caller.h"
#include "daemon/host/web/web_capture.h"

struct jobs;
struct json;

enum job_state {
	JOB_WAITING, /* for a program */
	JOB_STARTING,
	JOB_RECORDING,
	JOB_COLLECTING,
	JOB_WRITING,
	JOB_DONE, /* this and those that follow: over */
	JOB_FAILED,
	JOB_EMPTY,
	JOB_CANCELLED,
};

enum job_target_state {
	JOB_TARGET_WAITING,
	JOB_TARGET_RECORDING,
	JOB_TARGET_COLLECTING,
	JOB_TARGET_DONE,
	JOB_TARGET_EMPTY,
	JOB_TARGET_FAILED,
};

struct job_target {
	uint64_t id; /* of struct program */
	pid_t pid;
	char name[64];
	enum job_target_state state;
	int64_t asked_ns; /* CLOCK_MONOTONIC; 0: not yet */
	uint64_t elapsed_ms;
	uint64_t recorded_bytes; /* raw */
	uint64_t trace_bytes;
	uint64_t n_events;
	uint64_t n_dropped;
	char error[512]; /* "": none */
	char file[272]; /* in the run; "": none yet */
};

struct job {
	struct job *next; /* the jobs', an older one */
	struct jobs *jobs;
	unsigned n_holders; /* the table, and the thread */
	uint64_t id;
	struct caller caller;
	struct web_capture request; /* as asked; constant */
	uint64_t newest; /* of request.next: programs behind this one are meant */
	_Atomic int stop; /* an early end is asked for, with the data */
	_Atomic int cancel; /* without */
	enum job_state state;
	int64_t created_ns; /* CLOCK_MONOTONIC, as the two below */
	int64_t started_ns; /* 0: not yet */
	int64_t ended_ns; /* likewise */
	int64_t unix_offset_ns; /* of all three: they stay apart as they were when somebody sets the clock */
	struct job_target *targets; /* room for WEB_CAPTURE_MAX_TARGETS */
	size_t n_targets;
	char run[160]; /* "": not written */
	int status; /* gRPC's, of what failed */
	char error[512];
	char **warnings; /* besides the request's */
	size_t n_warnings;
};

/* NULL when memory ran out. Takes |request|, also then. */
struct job *job_new(const struct caller *caller, struct web_capture *request);
struct job *job_free(struct job *j); /* NULL ok; returns NULL */

int job_is_over(const struct job *j);

/* Adds a warning, unless memory ran out. */
void job_warn(struct job *j, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The members of a CAPTURE. */
void job_write_json(const struct job *j, struct json *json);
/* As the data of an event: malloc'ed, NULL when memory ran out. */
char *job_format(const struct job *j);

#endif
