/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that take long and do more than record the program: they measure, read files, or call other
 * servers. Each has a thread of its own, so that it does not block the transport's. The number of
 * each kind is limited, so that slow calls of one kind do not keep out the others.
 */
#ifndef DAEMON_ERRAND_H
#define DAEMON_ERRAND_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct errand;
struct rpc_call;

enum errand_kind {
	ERRAND_FILES, /* reads files; fast */
	ERRAND_MONITOR, /* lasts for the time that the client asks for */
	ERRAND_RECORDING, /* the same, and may wait for its start first */
	ERRAND_PASSING, /* lasts until another server has answered */
	ERRAND_KINDS
};

struct errands {
	pthread_mutex_t mutex;
	pthread_cond_t changed; /* an errand was cancelled or woken; CLOCK_MONOTONIC */
	struct errand *list; /* under mutex */
	unsigned n[ERRAND_KINDS];
	bool are_given_up; /* under mutex */
	void *context; /* of each errand */
};

struct errand {
	struct errand *next; /* in the list */
	enum errand_kind kind;
	struct errands *all;
	void *context; /* of errands_init() */
	struct rpc_call *call;
	void (*work)(struct errand *); /* answers the call, on the errand's thread */
	uint8_t *request; /* malloc'ed: the call's bytes */
	size_t request_bytes;
	bool is_cancelled; /* under the errands' mutex, which |work| may use for its own data */
};

void errands_init(struct errands *e, void *context);

/* The number of errands of |kind| that run. */
unsigned errands_count_kind(struct errands *e, enum errand_kind kind);

/*
 * Calls |work| on a thread of its own to answer |call|, whose request is |bytes| (copied). If too
 * many of |kind| run, answers |call| with RESOURCE_EXHAUSTED.
 */
void errand_start(struct errands *all, enum errand_kind kind, struct rpc_call *call,
	const uint8_t *bytes, size_t n, void (*work)(struct errand *));

/*
 * Waits until |deadline_ns| (CLOCK_MONOTONIC) or the call is cancelled. Returns true if it is
 * cancelled.
 */
bool errand_wait(struct errand *e, int64_t deadline_ns);
bool errand_is_cancelled(struct errand *e);

/* The number of errands of all kinds that run. */
unsigned errands_count(struct errands *e);
/* Cancels all errands, and all that start later, because the server ends. */
void errands_give_up(struct errands *e);
bool errands_are_given_up(struct errands *e);

/* Sets |flag| to report the result of another thread, and wakes the errand. */
void errand_raise(struct errand *e, bool *flag);
/*
 * Waits until |flag| is set or the call is cancelled, |wait_ms| at most. Returns false if that time
 * passed first.
 */
bool errand_await_for(struct errand *e, const bool *flag, int wait_ms);
/* Waits until |flag| is set or the call is cancelled. Returns true if it is cancelled. */
bool errand_await_or_cancel(struct errand *e, const bool *flag);
/* Waits until |flag| is set. */
void errand_await(struct errand *e, const bool *flag);

#endif
