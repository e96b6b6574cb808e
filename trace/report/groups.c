/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts members into groups: linked lists of indices. */
#include "trace/report/groups.h"

#include <errno.h>
#include <stdlib.h>

int groups_make(struct groups *groups, size_t n_groups, size_t n_members,
	size_t (*get_group)(const void *context, size_t i), const void *context)
{
	groups->first = calloc(n_groups + 1, sizeof *groups->first);
	groups->next = calloc(n_members + 1, sizeof *groups->next);
	if (!groups->first || !groups->next)
		return -ENOMEM;
	for (size_t i = 0; i < n_groups; i++)
		groups->first[i] = GROUPS_END;
	for (size_t i = n_members; i-- > 0;) {
		size_t group = get_group(context, i);

		groups->next[i] = groups->first[group];
		groups->first[group] = i;
	}
	return 0;
}

void groups_deinit(struct groups *groups)
{
	free(groups->first);
	free(groups->next);
	*groups = (struct groups){.first = NULL};
}
