/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a plane of the trace model from raw slots: validates them, and finds names, times and
 * order.
 */
#ifndef DAEMON_ASSEMBLE_H
#define DAEMON_ASSEMBLE_H

#include <stdbool.h>
#include <stdint.h>

struct assembly;
struct async_carry;
struct drain;
struct space;
struct timeline;

/*
 * Ids of lines, each unique in its plane. Trace viewer uses only the lower 32 bits. In these, ids
 * of threads are below 2^30 and ids of async spans above.
 */

#define LINE_ID_FIRST_ASYNC (INT64_C(1) << 30)

/* The facts of the capture that the assembler needs. */
struct assemble_input {
	const struct drain *drain;
	struct timeline *timeline;
	uint64_t earliest_ticks; /* no record of the capture ended before this time */
	uint64_t start_ticks; /* records that began earlier are left out */
	/* async spans without a begin are cut here; may be later than the start */
	uint64_t window_ticks;
	uint64_t stop_ticks;
	int64_t stop_ns; /* the same instant, since the first pair of |timeline| */
	int64_t start_unix_ns; /* Unix time at the first pair of |timeline| */
	bool goes_on; /* the recording goes on in another part */
	/* the process had ended by then; 0 or stop_ticks: it ran until the stop */
	uint64_t ended_ticks;
	/* since the first pair of |timeline|: later records are left out; 0: none are */
	int64_t end_ns;
	struct async_carry
		*carry; /* carried through the parts of a session; NULL: there is one part */
	uint64_t settled_ticks; /* later marks of async spans belong to the next part */
	bool uses_ticks;
	const char *plane_name;
	int64_t plane_id;
	uint64_t max_ops; /* see device_drawing.h */
	const _Atomic int *cancel; /* raised: the plane is not wanted any more; NULL ok */
	struct assembly *assembly; /* NULL: nothing was spooled. Taken, also on failure */
};

/* The time at which open spans of the process are cut. */
uint64_t assemble_find_cut(const struct assemble_input *in);

/*
 * Converts |ticks| to time since the first pair. Spans that are cut at in->stop_ticks end at
 * in->stop_ns.
 */
int64_t assemble_find_end_ns(const struct assemble_input *in, uint64_t ticks);

/*
 * Adds the process's plane with a line per thread and per counter, and lines for the async spans,
 * to |space|, with losses as plane stats and as warnings. 0, -ENOMEM or -ECANCELED.
 */
int assemble_host_plane(const struct assemble_input *in, struct space *space);

#endif
