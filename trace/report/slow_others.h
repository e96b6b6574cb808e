/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the spans that ran on other threads and devices while slow units ran, and while typical
 * ones ran (slow.h). At most SLOW_OTHERS_WINDOWS units of each side of a group are examined, spread
 * over all of them.
 */
#ifndef TRACE_REPORT_SLOW_OTHERS_H
#define TRACE_REPORT_SLOW_OTHERS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/report/slow.h"

#define SLOW_OTHERS_WINDOWS 1024

struct slow_others;

/* 0 or -ENOMEM; call slow_others_free() in any case. */
int slow_others_new(struct slow *s, const struct digest *g, struct slow_others **out);
struct slow_others *slow_others_free(struct slow_others *o); /* NULL ok; returns NULL */

/*
 * The units that are added next are on |track|; NULL: they are on no thread, so that all tracks are
 * others.
 */
void slow_others_begin(struct slow_others *o, const struct view_track *track);
/* Adds a unit. Those of one track must come in the order of their starts. 0 or -ENOMEM. */
int slow_others_add(
	struct slow_others *o, size_t group, enum slow_side side, int64_t start_ns, int64_t end_ns);
/*
 * Reads the spans that ran at the same time, after all units were added, and fills in
 * group->others. 0, or a negative errno with |d|.
 */
int slow_others_find(struct slow_others *o, struct diag *d);

#endif
