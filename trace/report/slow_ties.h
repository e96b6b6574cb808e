/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the spans and flows on other threads that the trace ties to slow units, and to typical
 * ones:
 *
 * 	flows         that arrived in a unit on its thread, and the spans that they left
 * 	async spans   have no thread. The spans on threads that have their id belong to them: the id
 * 	              is the argument "id" of the span, or of the mark of a flow directly inside of
 * 	              it. A span around the whole async span does not belong to it.
 *
 * At most SLOW_TIES_UNITS units of each side of a group are examined, spread over all of them.
 */
#ifndef TRACE_REPORT_SLOW_TIES_H
#define TRACE_REPORT_SLOW_TIES_H

#include <stddef.h>
#include <stdint.h>

#include "trace/report/slow.h"

#define SLOW_TIES_UNITS 1024

struct item;
struct slow_ties;

int slow_ties_new(struct slow *s, const struct digest *g, struct slow_ties **out);
struct slow_ties *slow_ties_free(struct slow_ties *t); /* NULL ok; returns NULL */

/*
 * Adds a unit of |group|, on |track|, which is NULL for async spans. Those of a thread must come in
 * order. 0 or -ENOMEM.
 */
int slow_ties_add(struct slow_ties *t, size_t group, enum slow_side side, const struct item *unit,
	const struct view_track *track);
/*
 * Fills in the flows of groups, and the nodes of async spans, after all units were added. 0, or a
 * negative errno with |d|.
 */
int slow_ties_find(struct slow_ties *t, struct diag *d);

#endif
