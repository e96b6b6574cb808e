/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call whose answer takes long and is more than a recording of the program: measuring, reading files, asking other
 * servers. Each has a thread of its own, so that the transport's goes on; of each kind some at a time, so that those that
 * take long by their nature keep no others out.
 */
#ifndef DAEMON_ERRAND_H
#define DAEMON_ERRAND_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct errand;
struct rpc_call;

enum errand_kind {
	ERRAND_FILES, /* reads them, in no time */
	ERRAND_MONITOR, /* as long as its client says */
	ERRAND_RECORDING, /* the same, and it may wait for its start first */
	ERRAND_PASSING, /* as long as another server takes for it */
	ERRAND_KINDS
};

struct errands {
	pthread_mutex_t mutex;
	pthread_cond_t changed; /* one was cancelled or woken; CLOCK_MONOTONIC */
	struct errand *list; /* under mutex */
	unsigned n[ERRAND_KINDS];
	int are_given_up; /* under mutex */
	void *context; /* each errand's */
};

struct errand {
	struct errand *next; /* the errands' */
	enum errand_kind kind;
	struct errands *all;
	void *context; /* as errands_init() was given it */
	struct rpc_call *call;
	void (*work)(struct errand *); /* answers the call, on the errand's thread */
	uint8_t *request; /* malloc'ed: the call's bytes */
	size_t request_bytes;
	int is_cancelled; /* under the errands' mutex, as what the work shares with others may be */
};

void errands_init(struct errands *e, void *context);

/* How many of |kind| are under way. */
unsigned errands_count_kind(struct errands *e, enum errand_kind kind);

/*
 * Has |work| answer |call|, whose request is |bytes| (copied). When there are too many of |kind| the call is answered
 * here: RESOURCE_EXHAUSTED.
 */
void errand_start(struct errands *all, enum errand_kind kind, struct rpc_call *call,
	const uint8_t *bytes, size_t n, void (*work)(struct errand *));

/* Waits until |deadline_ns| (CLOCK_MONOTONIC) or the call is given up. 1 when it is. */
int errand_wait(struct errand *e, int64_t deadline_ns);
int errand_is_cancelled(struct errand *e);

/* How many are under way, of all kinds. */
unsigned errands_count(struct errands *e);
/* The server ends: those under way, and those that come, are given up as if their clients had gone away. */
void errands_give_up(struct errands *e);
int errands_are_given_up(struct errands *e);

/* For an outcome that comes from another thread: sets |flag| and wakes the errand that waits for it. */
void errand_raise(struct errand *e, int *flag);
/* Waits until |flag| is set or the call is given up, then 1; or for |wait_ms|, then 0. */
int errand_await_for(struct errand *e, const int *flag, int wait_ms);
/* Waits until |flag| is set or the call is given up. 1 when it is given up. */
int errand_await_or_cancel(struct errand *e, const int *flag);
/* Waits until |flag| is set. */
void errand_await(struct errand *e, const int *flag);

#endif
