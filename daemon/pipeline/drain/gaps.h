/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times in which records of a process were lost: two records before and behind such a gap need not
 * belong together. When there are too many gaps, the two that are nearest to each other become one.
 */
#ifndef DAEMON_GAPS_H
#define DAEMON_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GAPS_MAX 32

/* In ticks, both ends included. */
struct loss_gap {
	uint64_t from;
	uint64_t until; /* UINT64_MAX: it has not ended yet */
};

/* The gaps are in the order of time and do not touch. All zero: there are none. */
struct gaps {
	struct loss_gap v[GAPS_MAX + 1]; /* room for one more while a gap is added */
	size_t n;
};

void gaps_add(struct gaps *g, uint64_t from, uint64_t until);
/* Ends the last gap at |ticks| if it has not ended yet. */
void gaps_end(struct gaps *g, uint64_t ticks);
/* True when a record with a time from |after| to |before| may have been lost. */
bool gaps_has(const struct gaps *g, uint64_t after, uint64_t before);

#endif
