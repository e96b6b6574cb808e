/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job is a capture that came by HTTP (docs/http-api.md, "Captures"): its state while it runs and
 * afterwards, and the thread that does its work. jobs.h has the table of all jobs.
 *
 * Threads: all members but |stop| and |cancel| are read and changed under the mutex of the jobs.
 */
#ifndef DAEMON_JOB_H
#define DAEMON_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/host/programs/caller.h"
#include "daemon/host/web/web_capture.h"

struct ensemble;
struct jobs;
struct json;

enum job_state {
	JOB_WAITING, /* for a program that has yet to start */
	JOB_STARTING,
	JOB_RECORDING,
	JOB_COLLECTING,
	JOB_WRITING,
	JOB_DONE, /* from here on the job is over */
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
	int64_t asked_ns; /* time of the request, CLOCK_MONOTONIC; 0: not yet */
	uint64_t elapsed_ms;
	uint64_t recorded_bytes; /* raw */
	uint64_t trace_bytes;
	uint64_t n_events;
	uint64_t n_dropped;
	char error[512]; /* "": none */
	char file[272]; /* name in the run's directory; "": none yet */
};

struct job {
	struct job *next; /* the next older job of the table */
	struct jobs *jobs;
	unsigned n_holders; /* references: the table has one, the thread another */
	uint64_t id;
	struct caller caller;
	struct web_capture request; /* constant */
	uint64_t newest; /* request.next selects only programs with a greater id */
	_Atomic int stop; /* the user wants an early end and keeps the data */
	_Atomic int cancel; /* the user wants an end and discards the data */
	enum job_state state;
	int64_t created_ns; /* CLOCK_MONOTONIC, like the two below */
	int64_t started_ns; /* 0: not yet */
	int64_t ended_ns; /* 0: not yet */
	/*
	 * Unix time less CLOCK_MONOTONIC, for all three times: one offset keeps their distances
	 * when somebody sets the clock.
	 */
	int64_t unix_offset_ns;
	struct job_target *targets; /* room for WEB_CAPTURE_MAX_TARGETS */
	size_t n_targets;
	char run[160]; /* name of the written run; "": none */
	int status; /* gRPC status of the failure */
	char error[512];
	char **warnings; /* in addition to those of the request */
	size_t n_warnings;
};

/* Returns NULL when memory ran out. Takes |request| in any case. */
struct job *job_new(const struct caller *caller, struct web_capture *request);
struct job *job_free(struct job *j); /* NULL ok; returns NULL */

bool job_is_over(const struct job *j);

/* Adds a warning, unless memory ran out. */
void job_warn(struct job *j, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes the members of the object CAPTURE of docs/http-api.md. */
void job_write_json(const struct job *j, struct json *json);
/* Formats the same object as the data of an event: malloc'ed; NULL when memory ran out. */
char *job_format(const struct job *j);

/* --- notes of the capture's thread ------------------------------------------------------------ */

/*
 * The thread notes its progress for callers and for streams of events. Each function takes the
 * mutex of the jobs.
 */

/* Notes that the recording has begun, now. */
void job_note_begin(struct job *job);
/*
 * Notes how far each program is. Sends a changed state to streams at once, and everything else if
 * |is_due|. Returns true if it sent something.
 */
bool job_note_progress(struct job *job, const struct ensemble *e, bool is_due);
/* Notes the outcome of each program's recording, after capture_group_end(). */
void job_note_outcome(struct job *job, const struct ensemble *e);
/* Notes that the job is over. |status| is gRPC's. |format| NULL: there is no error. */
void job_note_end(struct job *job, enum job_state state, int status, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* --- the capture's thread (job_work.c) -------------------------------------------------------- */

/*
 * Starts the thread that waits for the program, records and writes the run. It calls jobs_leave()
 * at its end. The caller has the mutex of the jobs. 0 or a negative errno.
 */
int job_work_start(struct job *job);

#endif
