/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a spooled capture must stay in memory until its end: names, stragglers, the places of runs, the marks of async
 * spans, the samples of counters. A share of the capture's memory; what does not fit is left out and counted.
 */
#ifndef DAEMON_KEEP_H
#define DAEMON_KEEP_H

#include <stdint.h>

struct keep {
	uint64_t max_bytes; /* UINT64_MAX: no limit */
	uint64_t used_bytes;
};

/* 1: there is room for |bytes| more, and they count. */
static inline int keep_take(struct keep *k, uint64_t bytes)
{
	if (k->used_bytes > k->max_bytes || bytes > k->max_bytes - k->used_bytes)
		return 0;
	k->used_bytes += bytes;
	return 1;
}

#endif
