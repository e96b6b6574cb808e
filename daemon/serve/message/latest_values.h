/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the newest value of each counter, and the last step of each name, from the rings of a
 * process, which need not be running.
 */
#ifndef DAEMON_LATEST_VALUES_H
#define DAEMON_LATEST_VALUES_H

#include <stddef.h>
#include <stdint.h>

struct target;

/* The limit of counters, and of steps. Values of further names are only counted. */
#define LATEST_MAX_NAMES 64u
#define LATEST_NAME_BYTES 256u

struct latest_value {
	uint64_t age_ticks; /* of the record's end */
	uint64_t duration_ticks; /* of a step */
	int64_t number; /* of a step */
	double value; /* of a counter */
	char name[LATEST_NAME_BYTES]; /* printable; a longer one ends with UTF8_CUT */
};

struct latest_kind {
	struct latest_value v[LATEST_MAX_NAMES];
	size_t n;
};

struct latest_values {
	struct latest_kind counters;
	struct latest_kind steps;
	uint64_t n_left_out; /* records whose names had no room */
};

/*
 * Reads the rings of threads that have joined the present recording, and leaves all records there.
 * Ages are those at |now_ticks|. A record has only 48 bits of its time, which wrap after 26 h at
 * 3 GHz: among values that are older, the newest cannot be found. 0 or -ENOMEM; |out| need not be
 * initialised, and is large.
 */
int latest_values_read(struct target *t, uint64_t now_ticks, struct latest_values *out);

#endif
