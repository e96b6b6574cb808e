/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells how far a recording has come at any moment, by the clock and by the work that was done, so
 * that recordings of different length can be compared: totals and counts are divided by units of
 * work.
 *
 * The unit must be in both traces: a step, or else a request, or else a second. A request is an
 * async span, or a span that lies in no other span of its thread. Steps are no requests. Spans as
 * long as an eighth of the recording or longer, such as one around main(), do not count as spans
 * around others.
 */
#ifndef TRACE_REPORT_PACE_H
#define TRACE_REPORT_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diag;
struct digest;

#define PACE_MOMENTS 65536 /* a recording is divided into so many moments */

enum pace_unit {
	PACE_STEP,
	PACE_REQUEST,
	PACE_SECOND,
	PACE_TRACE, /* the whole recording is one unit */
};

/* The pace of one trace. */
struct pace_side {
	const struct digest *digest;
	int64_t begin_ns;
	double length_ns; /* > 0 */
	double units; /* > 0 */
	uint32_t n_units; /* counted units: steps or requests that began in the digest's time */
	/* By moment: units that have begun at its end; NULL: the clock is the measure */
	uint32_t *begun;
	struct pace_name *names; /* indexed by the view's names */
	size_t n_names;
};

struct pace {
	enum pace_unit unit;
	const char *name; /* name of the step or request, borrowed from a view; or NULL */
	struct pace_side sides[2];
};

/*
 * |per| is "second", "trace", or the name of a step or request. With NULL the unit is the step that
 * takes the most time, else the request that does, else a second. Names that the digests leave out
 * count, too. 0, or a negative errno with |d|; call pace_deinit() in any case.
 */
int pace_make(const struct digest *a, const struct digest *b, const char *per, struct pace *out,
	struct diag *d);
void pace_deinit(struct pace *p);

/* Returns the moment of |at_ns|, 0 to PACE_MOMENTS - 1. */
uint32_t pace_find_moment(const struct pace_side *s, int64_t at_ns);
/*
 * Returns the unit of work that is done at |at_ns|, 0 to pace_count_keys() - 1; if units are not
 * counted, the moment.
 */
uint32_t pace_find_work(const struct pace_side *s, int64_t at_ns);
uint32_t pace_count_keys(const struct pace_side *s);
/* True if all |count| spans of that name on threads are requests. */
bool pace_are_requests(const struct pace_side *s, uint32_t name, uint64_t count);

#endif
