/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last ten minutes of everything that is measured. Subjects that have gone are kept until their
 * last sample is too old. Memory is bounded: 600 values of 4 bytes for each metric of each subject,
 * of HISTORY_MAX_COLUMNS metrics at most.
 *
 * Threads: starts none; the caller has the mutex of the machine.
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
	uint64_t n; /* number of samples, the present one included */
	int64_t at_ns[HISTORY_SLOTS]; /* CLOCK_MONOTONIC */
	enum peek peek; /* kind of the present sample */
	struct subject *v[HISTORY_MAX_SUBJECTS]; /* in the order of their first samples */
	size_t n_subjects;
	size_t n_columns; /* metrics of all subjects in total */
	size_t cursor; /* index after the subject that was found last */
};

/* A history of zeros, except for |root|, is empty. */
void history_deinit(struct history *h);

/* Begins a sample. */
void history_begin(struct history *h, int64_t at_ns);

/*
 * Begins a peek: a sample out of turn, later than the last, which history_end_peek() removes again.
 * It has only subjects that were in the last sample. A rate covers the time since that sample, or,
 * if that is less than a quarter of a second, since the sample before. The kernel counts in
 * hundredths of a second, which is too coarse for shorter times.
 */
void history_begin_peek(struct history *h, int64_t at_ns);
void history_end_peek(struct history *h);

/*
 * Returns the subject of |group| with the id |id|, or with the name |name| if |id| is 0, and adds
 * it to the present sample. NULL: it is not measured, memory ran out, or there are too many.
 * Borrowed until the next call. Fast if the calls come in the same order in each sample.
 */
struct subject *history_touch(
	struct history *h, const struct metric_group *group, uint64_t id, const char *name);

/* Returns the time of the sample |n|, one of the last HISTORY_SAMPLES. */
int64_t history_time_ns(const struct history *h, uint64_t n);
/* Returns the oldest sample that is kept; |h->n| when there is none. */
uint64_t history_first(const struct history *h);

#endif
