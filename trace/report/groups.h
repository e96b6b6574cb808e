/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts the members of a list into groups, in the order of the list, so that a group need not
 * search all members.
 */
#ifndef TRACE_REPORT_GROUPS_H
#define TRACE_REPORT_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#define GROUPS_END SIZE_MAX

struct groups {
	size_t *first; /* first member of each group */
	size_t *next; /* the member after each member in its group; GROUPS_END: it is the last */
};

/*
 * |get_group| returns the group, below |n_groups|, of member |i|, below |n_members|. 0 or -ENOMEM;
 * call groups_deinit() in any case.
 */
int groups_make(struct groups *groups, size_t n_groups, size_t n_members,
	size_t (*get_group)(const void *context, size_t i), const void *context);
void groups_deinit(struct groups *groups);

#endif
