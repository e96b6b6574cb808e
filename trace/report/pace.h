/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a recording has come at any moment, by the clock and by the work that was done, so that two recordings of different
 * length compare: totals and counts are divided by units of work.
 *
 * The unit is found in both traces: a step, or else a request, or else a second. A request is an async span, or a span that lies
 * in no other span of its thread, where steps are no requests, and spans as long as an eighth of the recording or longer, such
 * as one around main(), do not count as others.
 */
#ifndef TRACE_REPORT_PACE_H
#define TRACE_REPORT_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diag;
struct digest;

#define PACE_MOMENTS 65536 /* into which a recording is divided */

enum pace_unit {
	PACE_STEP,
	PACE_REQUEST,
	PACE_SECOND,
	PACE_TRACE, /* the whole recording: nothing is divided */
};

/* Of one trace. */
struct pace_side {
	const struct digest *digest;
	int64_t begin_ns;
	double length_ns; /* > 0 */
	double units; /* > 0 */
	uint32_t
		n_units; /* that are counted: steps and requests that began in the time that is looked at */
	uint32_t *
		begun; /* by moment, how many of them have begun at its end; NULL: the clock is the measure */
	struct pace_name *names; /* by the view's names */
	size_t n_names;
};

struct pace {
	enum pace_unit unit;
	const char *name; /* of the step or request; borrowed from a view, or NULL */
	struct pace_side sides[2];
};

/*
 * |per|: "second", "trace", or the name of a step or request; NULL: the step that takes the most time, else that request, else
 * a second. Names that the digests leave out count, too. 0, or a negative errno with |d|; pace_deinit() in any case.
 */
int pace_make(const struct digest *a, const struct digest *b, const char *per, struct pace *out,
	struct diag *d);
void pace_deinit(struct pace *p);

/* The moment of |at_ns|, 0 to PACE_MOMENTS - 1. */
uint32_t pace_find_moment(const struct pace_side *s, int64_t at_ns);
/* The unit of work that is being done at |at_ns|, 0 to pace_count_keys() - 1; the moment where these are not counted. */
uint32_t pace_find_work(const struct pace_side *s, int64_t at_ns);
uint32_t pace_count_keys(const struct pace_side *s);
/* Whether all of that name on threads, of which there are |count|, are requests. */
bool pace_are_requests(const struct pace_side *s, uint32_t name, uint64_t count);

#endif
