/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What slow units, and typical ones, are tied to on other threads, as far as the trace says so:
 *
 *	flows         that arrived in a unit on its thread, and the spans that they left
 *	async spans   have no thread; those spans on threads are theirs that have their id: as argument "id", or by a mark of a
 *	              flow with it that lies directly in them. What lies around the whole async span is not in it.
 *
 * Of each side of a group at most SLOW_TIES_UNITS units are looked at, spread over all of them.
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

/* A unit of the group |group|, on |track|; of an async span it is NULL. Those of a thread come in order. 0 or -ENOMEM. */
int slow_ties_add(struct slow_ties *t, size_t group, enum slow_side side, const struct item *unit,
	const struct view_track *track);
/* When all are there: fills in the groups' flows, and the nodes of async spans. 0, or a negative errno with |d|. */
int slow_ties_find(struct slow_ties *t, struct diag *d);

#endif
