/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ran on other threads and devices while slow units ran, and while typical ones did (slow.h). Of each side of a group at
 * most SLOW_OTHERS_WINDOWS units are looked at, spread over all of them.
 */
#ifndef TRACE_REPORT_SLOW_OTHERS_H
#define TRACE_REPORT_SLOW_OTHERS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/report/slow.h"

#define SLOW_OTHERS_WINDOWS 1024

struct slow_others;

/* 0 or -ENOMEM; slow_others_free() in any case. */
int slow_others_new(struct slow *s, const struct digest *g, struct slow_others **out);
struct slow_others *slow_others_free(struct slow_others *o); /* NULL ok; returns NULL */

/* The units that follow are on |track|; NULL: on none, so that all tracks are others. */
void slow_others_begin(struct slow_others *o, const struct view_track *track);
/* A unit; those of one track come in the order of their starts. 0 or -ENOMEM. */
int slow_others_add(
	struct slow_others *o, size_t group, enum slow_side side, int64_t start_ns, int64_t end_ns);
/*
 * To be called when all units are known: reads what ran meanwhile, and gives each group its list.
 * 0, or a negative errno with |d|.
 */
int slow_others_find(struct slow_others *o, struct diag *d);

#endif
