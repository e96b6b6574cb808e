/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one capture that may run at a time, between the threads: calls come in on the transport's thread,
 * the recording runs on the worker thread.
 */
#ifndef DAEMON_SESSION_H
#define DAEMON_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct family;
struct rpc_call;
struct session_request;

/* What a call is told when there is nobody left to record. */
extern const char session_gone_text[];

struct session {
	struct family *family;
	void (*on_gone)(void *context); /* on the worker's thread; must return at once */
	void *context;
	pthread_mutex_t mutex;
	struct session_request *request; /* NULL: free; under mutex */
	_Atomic int is_pending; /* the worker has not taken it yet */
	_Atomic int
		is_waiting; /* the worker sleeps, or is about to; set before is_pending is read */
	_Atomic int stop;
	_Atomic int cancel;
	_Atomic int is_closing; /* no further captures */
};

enum {
	SESSION_BUSY = 1,
	SESSION_CLOSED = 2, /* the target is gone */
};

void session_init(struct session *s, struct family *family, void (*on_gone)(void *), void *context);

/*
 * Takes |request| (malloc'ed), also on failure, and wakes the worker. 0, SESSION_BUSY or SESSION_CLOSED; then
 * request->call is not answered here. Any thread: it does not wait for a worker that is at work, which may be writing
 * the program's own trace to a slow disk.
 */
int session_take(struct session *s, struct session_request *request);
/* For a client that was told SESSION_BUSY: whose session that is, e.g. "session a: 60.0 s, begun 2.1 s ago". */
void session_describe(struct session *s, char *text, size_t n);
/* Ends the session |session_id| early, with its data; nothing if it is not the one that runs. */
void session_terminate(struct session *s, const char *session_id);
/* Whether a capture waits or runs. Any thread. */
int session_is_busy(struct session *s);
/* The client of |call| is gone. */
void session_cancel(struct session *s, const struct rpc_call *call);

/*
 * The worker's loop: runs captures and answers their calls until the target is gone, and calls
 * s->on_gone as soon as that is known, before the last capture is delivered; maybe twice.
 */
void session_work(struct session *s);

/* No capture any more: one that waits is answered, later ones are refused. */
void session_close(struct session *s);

#endif
