/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thing that is measured: a processor, a disk, a program; with its last ten minutes. Samples are counted from 0 since the start;
 * what is older than HISTORY_SAMPLES has been written over.
 */
#ifndef DAEMON_SUBJECT_H
#define DAEMON_SUBJECT_H

#include <stdint.h>
#include <sys/types.h>

#include "daemon/host/machine/metric.h"

/* Ten minutes, one a second. */
#define HISTORY_SAMPLES 600u
/* One more has a place: that of a peek. */
#define HISTORY_SLOTS (HISTORY_SAMPLES + 1)
#define SUBJECT_NAME_BYTES 64

/* A sample between two, which is taken back: see history_begin_peek(). */
enum peek {
	PEEK_NONE,
	PEEK,
	PEEK_SHORT, /* too soon after the last sample for rates: they are since the one before that */
};

/* What a rate's total was, and when. */
struct count {
	uint64_t total;
	int64_t at_ns; /* CLOCK_MONOTONIC; 0: unknown */
};

struct subject {
	const struct metric_group *group;
	uint64_t id; /* what it is known by; 0: its name */
	char name[SUBJECT_NAME_BYTES]; /* "sda"; "" where there is only one; printable */
	char detail[SUBJECT_NAME_BYTES]; /* a model's name, or ""; printable */
	pid_t pid; /* of a program, else 0 */
	uid_t uid; /* of a program: who may be told of it */
	unsigned n_rows; /* 0: it is not wanted */
	uint64_t first; /* the sample in which it came */
	uint64_t last; /* the last one in which it was there */
	struct count counts[METRIC_MAX_ROWS]; /* of rates, when they were told last */
	struct count counts_before[METRIC_MAX_ROWS]; /* and the time before */
	enum peek peek; /* what the last sample that was begun is */
	float values[]; /* HISTORY_SLOTS times |n_rows|; NAN: unknown */
};

/* NULL when memory ran out. */
struct subject *subject_new(
	const struct metric_group *group, uint64_t id, const char *name, unsigned n_rows);

/* It is there in the sample |n|; nothing is known yet. */
void subject_begin(struct subject *s, uint64_t n);
/* It is there in a peek, behind the last sample, in which it was, too. */
void subject_begin_peek(struct subject *s, enum peek peek);
/* As it was before. */
void subject_end_peek(struct subject *s);

/* For the last sample that was begun. */
void subject_set(struct subject *s, unsigned row, double value);
/*
 * What a rate's total is at |now_ns| (CLOCK_MONOTONIC): the value is the rate since it was last told; unknown when it is the first,
 * or has gone back: a counter that wrapped or began anew. What is told in a peek is no base of later rates.
 */
void subject_count(struct subject *s, unsigned row, uint64_t total, int64_t now_ns);
/* As in the sample before: it was not read this time. */
void subject_repeat(struct subject *s, unsigned row);

/* In the sample |n| of the last HISTORY_SAMPLES; NAN: unknown. */
double subject_get(const struct subject *s, unsigned row, uint64_t n);

#endif
