/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the groups of a comparison of slow units with typical ones. */
#ifndef TRACE_REPORT_SLOW_CHOICE_H
#define TRACE_REPORT_SLOW_CHOICE_H

struct digest;
struct slow;

/*
 * Fills in s->groups, those that lost most time first. |factor| is that of slow_make(). 0 or
 * -ENOMEM.
 */
int slow_choose_groups(struct digest *g, struct slow *s, double factor);

#endif
