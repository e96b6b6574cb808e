/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times within which records of a process were lost, so that two records on both sides of such a time need not belong together. Of
 * very many the nearest ones become one.
 */
#ifndef DAEMON_GAPS_H
#define DAEMON_GAPS_H

#include <stddef.h>
#include <stdint.h>

#define GAPS_MAX 32

/* In ticks, both ends included. */
struct gap {
	uint64_t from;
	uint64_t until; /* UINT64_MAX: it has not ended yet */
};

/* In order, and apart from each other. All zero: there are none. */
struct gaps {
	struct gap v[GAPS_MAX + 1]; /* one more while one is added */
	size_t n;
};

void gaps_add(struct gaps *g, uint64_t from, uint64_t until);
/* The last one, if it has not ended yet, ends at |ticks|. */
void gaps_end(struct gaps *g, uint64_t ticks);
/* Whether a record with a time from |after| to |before| may have been lost. */
int gaps_has(const struct gaps *g, uint64_t after, uint64_t before);

#endif
