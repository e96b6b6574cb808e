/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording without an end that keeps the newest, and what is cut off it: the worker goes on draining while another
 * thread makes the trace of a part. In memory lie slices, each what was drained in a row, a sixteenth of what may be
 * held; when that is full the oldest goes, counted.
 */
#ifndef DAEMON_CONTINUOUS_H
#define DAEMON_CONTINUOUS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/pipeline/recording/continuous_part.h"

struct async_carries;
struct drain;
struct recording;
struct slice;

struct continuous {
	struct recording *recording; /* borrowed */
	uint64_t max_bytes; /* of raw records, beside the rings */
	const struct async_carries *carries; /* borrowed */
	struct slice *slices; /* the oldest first */
	struct slice **last; /* where the next one goes */
	uint64_t sliced_bytes; /* of them all */
	int64_t kept_from_ns; /* CLOCK_MONOTONIC: nothing that ended earlier is kept */
	int64_t slice_from_ns; /* where the one begins that is being filled */
	/* The thread that makes a trace. */
	pthread_t maker;
	bool has_maker;
	_Atomic bool is_made; /* it is about to end */
	struct continuous_part part; /* the maker's while it runs */
	void (*make)(struct recording *part, void *context);
	void *context; /* of |make| */
};

/*
 * |r| has begun; |max_bytes| is what its raw records may take; |carries|: what makers leave to one another, see |make| below.
 */
void continuous_init(struct continuous *k, struct recording *r, uint64_t max_bytes,
	const struct async_carries *carries);
/* Waits for the maker. */
void continuous_deinit(struct continuous *k);

/* After each visit of the recording: slices, and what is too much. */
void continuous_visit(struct continuous *k);

/* Whether continuous_cut() can be called: nothing is being made. */
bool continuous_is_ready(struct continuous *k);
/*
 * Cuts off all that is kept, and has |make| called with it on another thread (on this one when there can be none). What
 * is missing in it for lack of memory is said by its |error|. 0, or -ENOMEM: |make| is not called, and all is kept.
 */
int continuous_cut(
	struct continuous *k, void (*make)(struct recording *part, void *context), void *context);

/* Once the recording has ended: waits for the maker, and calls |make| with the rest, on this thread. As above. */
int continuous_end(
	struct continuous *k, void (*make)(struct recording *part, void *context), void *context);

#endif
