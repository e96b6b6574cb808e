/* SPDX-License-Identifier: Apache-2.0 */
/* Two names of one target, which only the target itself can tell; see parts.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "client/capture/parts.h"
#include "client/process/exit.h"

static int compare_targets(const void *a, const void *b)
{
	const struct part *const *x = a;
	const struct part *const *y = b;
	int order = strcmp((*x)->clock.target, (*y)->clock.target);

	if (order)
		return order;
	return *x < *y ? -1 : *x > *y;
}

static bool is_twin(const struct part *first, const struct part *second)
{
	return first->clock.target[0] && second->code == EXIT_DONE && first->code == EXIT_DONE &&
	       strcmp(first->clock.target, second->clock.target) == 0;
}

static struct part *refuse_twin(const struct part *first, struct part *second)
{
	diag_set(&second->d, -EINVAL,
		"%.200s: the same target as %.200s; a target is captured once at a time",
		second->address.text, first->address.text);
	second->code = EXIT_USAGE;
	return second;
}

struct part *parts_find_twin(struct parts *parts)
{
	struct part **sorted = parts->n > 1 ? calloc(parts->n, sizeof *sorted) : NULL;
	struct part *twin = NULL;

	if (!sorted)
		return NULL;
	for (size_t i = 0; i < parts->n; i++)
		sorted[i] = &parts->v[i];
	qsort(sorted, parts->n, sizeof *sorted, compare_targets);
	for (size_t i = 1; i < parts->n && !twin; i++)
		if (is_twin(sorted[i - 1], sorted[i]))
			twin = refuse_twin(sorted[i - 1], sorted[i]);
	free(sorted);
	return twin;
}
