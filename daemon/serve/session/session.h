/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one recording that may run at a time, as all threads see it: calls arrive on the transport's
 * thread, and the recording runs on the worker's (worker.h). A request with a start in the future
 * waits and blocks no other request meanwhile. When it is due it occupies the session if that is
 * free, and is refused otherwise.
 */
#ifndef DAEMON_SESSION_H
#define DAEMON_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
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
	struct session_request *request; /* it occupies the session; NULL: free; under mutex */
	struct session_request *waiting; /* in the order of their starts; under mutex */
	/* For a continuous session (continuous_session.h); under mutex. */
	struct session_request *snapshots; /* requests for snapshots, in their order */
	struct session_request *stopper; /* the request for its end */
	struct session_rest *rest; /* its data after the program's death; the worker's; or NULL */
	_Atomic int is_rest_taken; /* a client has received it */
	/* For the flight recorder (session_recorder.h). */
	struct session_request *recorder_requests; /* in their order; under mutex */
	_Atomic int has_recorder; /* changes under mutex */
	_Atomic uint32_t recorder_news; /* a futex, which counts changes */
	_Atomic int is_inherited; /* a client has taken a dead program's data */
	struct recorder_work *recorder_work; /* the worker's; NULL: no recorder was ever on */
	const struct repository *repository; /* the operator's; NULL: none */
	const struct socket_file *way; /* the socket where clients can get held data; NULL: none */
	_Atomic uid_t heir; /* the user, beside root, who may take a dead program's data */
	/* The text about GPUs of the last capture that had one; under mutex. */
	char gpu[STATUS_GPU_BYTES];
	_Atomic int is_pending; /* the worker has something new to check */
	/* The worker sleeps, or is about to; set before is_pending is read. */
	_Atomic int is_waiting;
	_Atomic int stop;
	_Atomic int cancel;
	_Atomic int is_closing; /* no further captures */
};

/* The limit of waiting requests of each kind. Each of them holds a call. */
#define SESSION_MAX_WAITING 64

enum {
	SESSION_BUSY = 1, /* another recording runs, or too many requests wait */
	SESSION_CLOSED = 2, /* the target is gone */
	SESSION_NONE = 3, /* there is no such session */
	SESSION_OWN = 4, /* the program traces itself, and only the program can end its trace */
	/* Refusals of the flight recorder, which runs beside the session (continuous_session.h). */
	SESSION_NO_RECORDER = 5, /* the recorder is off */
	SESSION_RECORDER_ON = 6, /* the recorder is on already */
	SESSION_NO_LAST = 7, /* the recorder is off, and a continuous session cannot use last_ms */
	SESSION_FULL = 8, /* too many requests for snapshots wait */
};

void session_init(struct session *s, struct family *family, void (*on_gone)(void *), void *context);

/*
 * Takes |request| (malloc'ed), on failure as well, and wakes the worker. 0, SESSION_BUSY or
 * SESSION_CLOSED; after a refusal request->deliver is not called. Any thread: this does not wait
 * for a busy worker, which may be writing the program's own trace to a slow disk.
 */
int session_take(struct session *s, struct session_request *request);
/*
 * Describes the running session for a client that was refused: "session a: 60.0 s, begun 2.1 s
 * ago".
 */
void session_describe(struct session *s, char *text, size_t n);
/*
 * Ends the session |session_id| early, with its data, if it runs or waits for its start.
 */
void session_terminate(struct session *s, const char *session_id);
/*
 * Ends the session |session_id|. "" means the running one, or else the first that waits for its
 * start. The request that began it gets the data, unless |discards|. Continuous sessions are not
 * ended here. 0, SESSION_NONE, or SESSION_OWN.
 */
int session_end(struct session *s, const char *session_id, bool discards);
/* Returns true if a capture runs or is about to. Any thread may call it. */
bool session_is_busy(struct session *s);
/*
 * Copies the text about GPUs that session_note_gpu() has noted, for struct status. Any thread may
 * call it.
 */
void session_get_gpu(struct session *s, char out[STATUS_GPU_BYTES]);
/* Cancels the requests of |call|, whose client is gone. */
void session_cancel(struct session *s, const struct rpc_call *call);

/*
 * Ends all captures: answers waiting requests, and refuses later ones. Clients can still take held
 * data (s->rest).
 */
void session_close(struct session *s);

/* Wakes the worker after s->is_pending was set. Any thread may call it. */
void session_wake_worker(struct session *s);

/* Wakes the worker if it records or holds data. Any thread, with or without the mutex. */
void session_nudge(struct session *s);
/*
 * Sets |flag| of |s|; the caller has the mutex. A recording reads it at least every 10 ms. Also
 * used by continuous_session.c.
 */
void session_raise(struct session *s, _Atomic int *flag);

/* Functions for the worker. */

/*
 * Lets the first due request occupy the session if it is free. Refuses others whose start has
 * passed, unless a recording ends early for the first. Returns when the next request is due,
 * CLOCK_MONOTONIC ns, or INT64_MAX.
 */
int64_t session_tend(struct session *s);
/* Returns the request that occupies the session, or NULL. */
struct session_request *session_get_request(struct session *s);
/*
 * Lets |request|, a trace that the program itself requested, occupy the session. 0, or a refusal
 * like those of session_take(); then the caller still owns |request|.
 */
int session_occupy(struct session *s, struct session_request *request);
/* Notes that the running session records and no longer ends with its call. Returns the call. */
struct rpc_call *session_note_begun(struct session *s);
/* Notes the text about GPUs in the result of a capture; "" changes nothing. */
void session_note_gpu(struct session *s, const char *text);
/*
 * Lets the next request occupy the session. Answers the requests for snapshots that were not made.
 * Returns the request for the end of the ended session, or NULL. Owner: the caller.
 */
struct session_request *session_release(struct session *s);

#endif
