/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last ten minutes of all that is measured. What has gone is kept until its last sample is too
 * old. Its memory is bounded: 600 values of 4 bytes for each metric of each thing, of MAX_COLUMNS
 * metrics at most.
 *
 * Threads: none inside; under the mutex of the machine.
 */
#ifndef DAEMON_HISTORY_H
#define DAEMON_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/host/machine/subject.h"

/* 12 MB of values. */
#define HISTORY_MAX_COLUMNS 5120u
#define HISTORY_MAX_SUBJECTS 1536u

struct history {
	const char *root; /* borrowed; for is_wanted() */
	uint64_t n; /* samples that have been taken, the present one included */
	int64_t at_ns[HISTORY_SLOTS]; /* CLOCK_MONOTONIC */
	enum peek peek; /* what the present sample is */
	struct subject *v[HISTORY_MAX_SUBJECTS]; /* in the order they came */
	size_t n_subjects;
	size_t n_columns; /* rows of all of them */
	size_t cursor; /* behind the one that was found last */
};

/* All zero, but for |root|, is the empty state. */
void history_deinit(struct history *h);

/* A new sample. */
void history_begin(struct history *h, int64_t at_ns);

/*
 * A sample out of turn, later than the last: until history_end_peek() it is one like the others,
 * then all is as it was. Things that were not in the last sample are not in it. A rate is over the
 * time since that one; when this is below a quarter of a second, since the one before it, because
 * what the kernel counts in hundredths of a second would be all or nothing.
 */
void history_begin_peek(struct history *h, int64_t at_ns);
void history_end_peek(struct history *h);

/*
 * The thing of |group| that is known by |id|, or by |name| when that is 0: it is there in this
 * sample. NULL when it is not wanted, when memory ran out, and when there are too many. Borrowed,
 * until the next call. Quick where they come in the same order each time.
 */
struct subject *history_touch(
	struct history *h, const struct metric_group *group, uint64_t id, const char *name);

/* When the sample |n| of the last HISTORY_SAMPLES was taken. */
int64_t history_time_ns(const struct history *h, uint64_t n);
/* The oldest sample that is kept; |h->n| when there is none. */
uint64_t history_first(const struct history *h);

#endif
