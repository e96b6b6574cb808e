/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A subject is one measured thing, such as a processor, a disk or a program, with its values of the
 * last ten minutes. Samples are numbered from 0; those older than HISTORY_SAMPLES have been
 * overwritten. The metrics of a subject are rows of its group's table.
 */
#ifndef DAEMON_SUBJECT_H
#define DAEMON_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* --- metrics ---------------------------------------------------------------------------------- */

enum metric_unit {
	METRIC_COUNT,
	METRIC_PERCENT,
	METRIC_BYTES,
	METRIC_PER_S,
	METRIC_BYTES_PER_S,
	METRIC_MHZ,
	METRIC_WATT,
	METRIC_CELSIUS,
	N_METRIC_UNITS
};

enum metric_kind {
	METRIC_GAUGE, /* value at the moment of the sample */
	METRIC_RATE, /* over the time since the previous sample */
};

struct metric {
	const char *name; /* "received" */
	enum metric_unit unit;
	enum metric_kind kind;
	double scale; /* of a rate: converts the kernel's count per second to |unit| */
};

#define METRIC_MAX_ROWS 8

/* A group has the metrics of one kind of thing: a processor, a disk, a program. */
struct metric_group {
	const char *name; /* "network" */
	const struct metric *rows;
	unsigned n_rows; /* METRIC_MAX_ROWS at most */
	unsigned n_drawn; /* this number of rows, the first ones, become lines of a trace */
	/*
	 * Returns false for things that are not measured. NULL: all are. |root| is that of struct
	 * machine_config.
	 */
	bool (*is_wanted)(const char *root, const char *name);
};

/* Returns the unit as a part of a name: "", " %", " bytes", "/s", … */
const char *metric_unit_text(enum metric_unit unit);

/* --- subjects --------------------------------------------------------------------------------- */

/* Ten minutes, with a sample each second. */
#define HISTORY_SAMPLES 600u
/* A peek has a slot, too. */
#define HISTORY_SLOTS (HISTORY_SAMPLES + 1)
#define SUBJECT_NAME_BYTES 64

/* A peek is a sample between two, which is removed again: see history_begin_peek(). */
enum peek {
	PEEK_NONE,
	PEEK,
	PEEK_SHORT, /* too soon after the last sample: rates count since the sample before that */
};

/* The total of a rate at a time. */
struct count {
	uint64_t total;
	int64_t at_ns; /* CLOCK_MONOTONIC; 0: unknown */
};

struct subject {
	const struct metric_group *group;
	uint64_t id; /* 0: the name identifies the subject */
	char name[SUBJECT_NAME_BYTES]; /* "sda"; "" if the group has only one subject; printable */
	char detail[SUBJECT_NAME_BYTES]; /* a model's name, or ""; printable */
	pid_t pid; /* of a program, else 0 */
	uid_t uid; /* of a program, else 0; decides which callers may see it */
	unsigned n_rows; /* 0: the subject is not measured */
	uint64_t first; /* the sample in which it came */
	uint64_t last; /* the last sample in which it was there */
	struct count counts[METRIC_MAX_ROWS]; /* the last totals of rates */
	struct count counts_before[METRIC_MAX_ROWS]; /* the totals before those */
	enum peek peek; /* kind of the last sample that was begun */
	float values[]; /* HISTORY_SLOTS times |n_rows|; NAN: unknown */
};

/* Returns NULL when memory ran out. */
struct subject *subject_new(
	const struct metric_group *group, uint64_t id, const char *name, unsigned n_rows);

/* Begins the sample |n|, in which the subject exists. Its values are unknown until they are set. */
void subject_begin(struct subject *s, uint64_t n);
/* Begins a peek in which the subject exists; it must have existed in the last sample, too. */
void subject_begin_peek(struct subject *s, enum peek peek);
/* Removes the peek. */
void subject_end_peek(struct subject *s);

/* Sets a value of the last sample that was begun. */
void subject_set(struct subject *s, unsigned row, double value);
/*
 * Sets the value of a rate from its |total| at |now_ns| (CLOCK_MONOTONIC): the rate since the
 * previous total. It is unknown for the first total, and for a lower one, as of a counter that
 * wrapped or began anew. Totals of a peek are no base of later rates.
 */
void subject_count(struct subject *s, unsigned row, uint64_t total, int64_t now_ns);
/* Repeats the value of the previous sample for a row that was not read this time. */
void subject_repeat(struct subject *s, unsigned row);

/* Returns the value in the sample |n|, one of the last HISTORY_SAMPLES; NAN: unknown. */
double subject_get(const struct subject *s, unsigned row, uint64_t n);

#endif
