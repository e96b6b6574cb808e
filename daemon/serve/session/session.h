/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one recording that may run at a time, between the threads: calls come in on the transport's
 * thread, the recording runs on the worker's (worker.h). Who asks for a start in the future waits
 * beside it and keeps nobody out before then; at its time it gets the place if it is free, and is
 * told that it is taken otherwise.
 */
#ifndef DAEMON_SESSION_H
#define DAEMON_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

struct family;
struct recorder_work;
struct repository;
struct rpc_call;
struct session_request;
struct session_rest;
struct socket_file;

/* The error of a call when the program has ended. */
extern const char session_gone_text[];

struct session {
	struct family *family;
	void (*on_gone)(void *context); /* on the worker's thread; must return at once */
	void *context;
	pthread_mutex_t mutex;
	struct session_request *request; /* NULL: free; under mutex */
	struct session_request *waiting; /* the soonest first; under mutex */
	/* For a continuous session (continuous_session.h); under mutex. */
	struct session_request *snapshots; /* asked for, the first first */
	struct session_request *stopper; /* who asked for its end */
	struct session_rest *
		rest; /* the worker's: what it had when the program died, see recorder_end.h; or NULL */
	_Atomic int is_rest_taken; /* somebody has it */
	/* For the flight recorder (session_recorder.h). */
	struct session_request *recorder_asks; /* the first first; under mutex */
	_Atomic int has_recorder; /* changes under mutex */
	_Atomic uint32_t recorder_news; /* a futex: counts the asks */
	_Atomic int is_inherited; /* somebody has what a dead program's recorder held */
	struct recorder_work *recorder_work; /* the worker's; NULL: there was never one */
	const struct repository *repository; /* the operator's; NULL: none */
	const struct socket_file *way; /* to what a dead program left; NULL: none */
	_Atomic uid_t heir; /* beside root, who may have what a dead program left */
	char gpu[STATUS_GPU_BYTES]; /* what the last capture said, if it said something; under mutex */
	_Atomic int is_pending; /* the worker has not looked yet */
	_Atomic int
		is_waiting; /* the worker sleeps, or is about to; set before is_pending is read */
	_Atomic int stop;
	_Atomic int cancel;
	_Atomic int is_closing; /* no further captures */
};

/* Requests of a kind that may wait. Each costs a call of its own; nobody needs more. */
#define SESSION_MAX_WAITING 64

enum {
	SESSION_BUSY = 1, /* or too many wait for their time */
	SESSION_CLOSED = 2, /* the target is gone */
	SESSION_NONE = 3, /* there is no such session */
	SESSION_OWN = 4, /* the program traces itself: only it ends that */
	/*
	 * Results of calls to the flight recorder, which is beside the session (recorder_calls.h).
	 */
	SESSION_NO_RECORDER = 5, /* it is off */
	SESSION_RECORDER_ON = 6, /* it is on already */
	SESSION_NO_LAST = 7, /* it is off, and a continuous session has no last milliseconds */
	SESSION_FULL = 8, /* too many snapshots of it wait */
};

void session_init(struct session *s, struct family *family, void (*on_gone)(void *), void *context);

/*
 * Takes |request| (malloc'ed), also on failure, and wakes the worker. 0, SESSION_BUSY or
 * SESSION_CLOSED; then request->deliver is not called. Any thread: it does not wait for a worker
 * that is at work, which may be writing the program's own trace to a slow disk.
 */
int session_take(struct session *s, struct session_request *request);
/*
 * For a client that was told SESSION_BUSY: whose session that is, e.g. "session a: 60.0 s, begun
 * 2.1 s ago".
 */
void session_describe(struct session *s, char *text, size_t n);
/*
 * Ends the session |session_id| early, with its data; nothing if it neither runs nor waits for its
 * start.
 */
void session_terminate(struct session *s, const char *session_id);
/*
 * Ends the session |session_id|, or whichever runs ("": if none does, the first of those that wait
 * for their start), with its data or without: the data goes to who began it. Not a continuous one.
 * 0, SESSION_NONE, or SESSION_OWN.
 */
int session_end(struct session *s, const char *session_id, int discards);
/* Whether a capture runs, or is about to. Any thread. */
int session_is_busy(struct session *s);
/* Writes what the last capture said of GPUs to |out|, as struct status has it. Any thread. */
void session_get_gpu(struct session *s, char out[STATUS_GPU_BYTES]);
/* The client of |call| is gone. */
void session_cancel(struct session *s, const struct rpc_call *call);

/*
 * No capture any more: those that wait are answered, later ones are refused. What is held (s->rest)
 * can still be asked for.
 */
void session_close(struct session *s);

/* There is something new for the worker: s->is_pending is set. Any thread. */
void session_wake_worker(struct session *s);

/* Wakes who records, and who holds what a dead program left. Any thread, under the mutex or not. */
void session_nudge(struct session *s);
/*
 * Raises |flag| of |s|, under the mutex; a recording looks at it at least every 10 ms. For
 * continuous_session.h, too.
 */
void session_raise(struct session *s, _Atomic int *flag);

/* The worker's part. */

/*
 * The requests whose time has come: the first one gets the place, or all are told that it is taken.
 * Returns when the next will be due, CLOCK_MONOTONIC ns, or INT64_MAX.
 */
int64_t session_tend(struct session *s);
/* The request that has the place, or NULL. */
struct session_request *session_get_request(struct session *s);
/*
 * Gives the place to |request|, which the worker runs itself. 0, or as session_take(); then it is
 * still the caller's.
 */
int session_occupy(struct session *s, struct session_request *request);
/* The one that runs records, and its call no longer holds it. Returns the call. */
struct rpc_call *session_note_begun(struct session *s);
/* Notes the text about GPUs of a capture's result; "" changes nothing. */
void session_note_gpu(struct session *s, const char *text);
/*
 * The place is free again. Snapshots that were not made are told so. Returns who asked for its end
 * (the caller's then), or NULL.
 */
struct session_request *session_release(struct session *s);

#endif
