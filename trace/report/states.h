/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums up what each thread did, by its states: it ran, was preempted, or was blocked, and in what.
 */
#ifndef TRACE_REPORT_STATES_H
#define TRACE_REPORT_STATES_H

#include <stddef.h>
#include <stdint.h>

#include "trace/model/names.h"

struct diag;
struct digest;
struct view_track;

/* Time that a thread was blocked in one thing. */
struct blocked_time {
	uint32_t reason; /* index into the list's reasons; its text is "" if it is unknown */
	int64_t ns;
};

struct state_times {
	const struct view_track *track; /* one of view->states */
	int64_t running_ns;
	int64_t preempted_ns; /* it could run, but other threads had the processors */
	int64_t blocked_ns;
	struct blocked_time *v; /* longest first */
	size_t n;
	size_t n_allocated;
};

struct state_list {
	struct state_times *v; /* most running time first */
	size_t n;
	struct names reasons;
};

/* Reads the states of the digest's view and time. 0 or a negative errno with |d|. */
int state_list_make(const struct digest *g, struct state_list *out, struct diag *d);
void state_list_deinit(struct state_list *l); /* all zero is empty */

#endif
