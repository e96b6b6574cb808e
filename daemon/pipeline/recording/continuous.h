/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording without an end, which keeps the newest records. Parts are cut off it: the worker goes
 * on draining while another thread makes the trace of a part. The records are held in slices, in
 * memory or in files, of a sixteenth of |max_bytes| each, but no more than 10 MiB or a 64th,
 * whichever is larger. When all together exceed |max_bytes|, or too many are in memory, the oldest
 * slice is dropped, and its entries are counted.
 */
#ifndef DAEMON_CONTINUOUS_H
#define DAEMON_CONTINUOUS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct async_carries;
struct recording;
struct slice;

/* A part of a session on its way to a trace. */
struct continuous_part {
	struct recording *recording; /* malloc'ed, from recording_cut() */
	struct slice *slices; /* older than |recording|, the oldest first */
	const struct async_carries *carries; /* borrowed: from the part before */
};

struct continuous {
	struct recording *recording; /* borrowed */
	uint64_t max_bytes; /* of raw records, beside the rings */
	const struct async_carries *carries; /* borrowed */
	struct slice *slices; /* the oldest first */
	struct slice **last; /* where the next slice is linked */
	uint64_t sliced_bytes; /* of all slices */
	int64_t kept_from_ns; /* CLOCK_MONOTONIC: records that ended earlier were dropped */
	int64_t slice_from_ns; /* begin of the slice that is being filled */
	/* The maker is the thread that makes a trace. */
	pthread_t maker;
	bool has_maker;
	_Atomic bool is_made; /* the maker is about to end */
	struct continuous_part part; /* belongs to the maker while it runs */
	void (*make)(struct recording *part, void *context);
	void *context; /* of |make| */
};

/*
 * |r| has begun; its raw records may take |max_bytes|. The maker of each part leaves |carries| to
 * the maker of the next one.
 */
void continuous_init(struct continuous *k, struct recording *r, uint64_t max_bytes,
	const struct async_carries *carries);
/* Waits for the maker. */
void continuous_deinit(struct continuous *k);

/*
 * Called after each visit of the recording: makes slices of the records, and drops the oldest
 * slices when they take too much.
 */
void continuous_visit(struct continuous *k);

/* True when continuous_cut() can be called, because no trace is being made. */
bool continuous_is_ready(struct continuous *k);
/*
 * Cuts off all records as a part, and calls |make| with it on another thread, or on this one if
 * that cannot be created. The part's |error| is set if memory runs out on that thread. 0, or
 * -ENOMEM if no part can be made: |make| is not called, and all records are kept.
 */
int continuous_cut(
	struct continuous *k, void (*make)(struct recording *part, void *context), void *context);

/*
 * Called when the recording has ended: waits for the maker, and calls |make| with the remaining
 * records on this thread. Returns as continuous_cut().
 */
int continuous_end(
	struct continuous *k, void (*make)(struct recording *part, void *context), void *context);

#endif
