/* SPDX-License-Identifier: Apache-2.0 */
/* From raw slots to the trace model: validation, names, times, order. */
#ifndef DAEMON_ASSEMBLE_H
#define DAEMON_ASSEMBLE_H

#include <stdbool.h>
#include <stdint.h>

struct assembly;
struct async_carry;
struct drain;
struct space;
struct timeline;

/* What the assembler needs to know of the capture. */
struct assemble_input {
	const struct drain *drain;
	struct timeline *timeline;
	uint64_t earliest_ticks; /* no record of the capture ended before */
	uint64_t start_ticks; /* records that began earlier are left out */
	uint64_t
		window_ticks; /* async spans whose begin is not there are cut here; maybe later than start */
	uint64_t stop_ticks;
	int64_t stop_ns; /* the same instant, since the first pair of |timeline| */
	int64_t start_unix_ns; /* Unix time at the first pair of |timeline| */
	bool goes_on; /* behind that, in the next part */
	uint64_t ended_ticks; /* the process had ended by then; 0: not before the stop */
	int64_t end_ns; /* since the first pair of |timeline|: what is later is left out; 0: nothing is */
	struct async_carry *carry; /* from part to part of a session; NULL: this is all there is */
	uint64_t settled_ticks; /* marks of async spans behind it are the next part's */
	bool uses_ticks;
	const char *plane_name;
	int64_t plane_id;
	uint64_t max_ops; /* see device_scope.h */
	const _Atomic int *cancel; /* raised: the plane is not wanted any more; NULL ok */
	struct assembly *assembly; /* NULL: nothing was spooled. Taken, also on failure */
};

/* Where what is still open of the process is cut. */
uint64_t assemble_find_cut(const struct assemble_input *in);

/* The time of |ticks| since the first pair. All that is cut at in->stop_ticks ends at in->stop_ns. */
int64_t assemble_find_end_ns(const struct assemble_input *in, uint64_t ticks);

/*
 * Adds the process's plane with a line per thread and per counter, and lines for the async spans, to
 * |space|, losses as plane stats and as warnings. 0, -ENOMEM or -ECANCELED.
 */
int assemble_host_plane(const struct assemble_input *in, struct space *space);

#endif
