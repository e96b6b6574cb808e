/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoded events that were written too late: spans that ended after a run was closed and began before its end. They
 * stay in memory until the trace is delivered.
 */
#ifndef DAEMON_STRAGGLERS_H
#define DAEMON_STRAGGLERS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/model/space.h"

struct straggler {
	struct trace_event event; /* its times: where it belongs */
	size_t at; /* in the bytes of all */
	uint32_t n_bytes;
	uint32_t round; /* those of one round came together, in their order */
};

struct stragglers {
	struct straggler *v;
	size_t n;
	size_t n_allocated;
	uint8_t *bytes;
	size_t n_bytes;
	size_t n_bytes_allocated;
	uint32_t round; /* that of the next ones */
};

/* All zero is the empty state. */
void stragglers_deinit(struct stragglers *s);

/* Appends |event|, whose encoded form is the |n_bytes| at |bytes|. 0 or -ENOMEM. */
int stragglers_add(struct stragglers *s, const struct trace_event *event, const uint8_t *bytes,
	uint32_t n_bytes);

/*
 * (start ascending, duration descending); of equal ones those of a later round first: what ended later
 * holds the other.
 */
void stragglers_sort(struct stragglers *s);

/* What one more takes of memory. */
static inline uint64_t straggler_cost(uint32_t n_bytes)
{
	return sizeof(struct straggler) + n_bytes;
}

#endif
