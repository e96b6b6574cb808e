/* SPDX-License-Identifier: Apache-2.0 */
/* Which members of a list belong to which of several groups, in the order of the list, so that no group looks at all of them. */
#ifndef TRACE_REPORT_GROUPS_H
#define TRACE_REPORT_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#define GROUPS_END SIZE_MAX

struct groups {
	size_t *first; /* of each group */
	size_t *next; /* of each member: the next of its group, GROUPS_END: it is the last */
};

/* |get_group| says which one of |n_groups| member |i| of |n_members| belongs to. 0 or -ENOMEM; groups_deinit() in any case. */
int groups_make(struct groups *groups, size_t n_groups, size_t n_members,
	size_t (*get_group)(const void *context, size_t i), const void *context);
void groups_deinit(struct groups *groups);

#endif
