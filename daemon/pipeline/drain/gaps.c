/* SPDX-License-Identifier: Apache-2.0 */
/* Times within which records were lost; see gaps.h. */
#include "daemon/pipeline/drain/gaps.h"

#include <stdbool.h>
#include <string.h>

/* Joins the gaps |i| and |i| + 1. */
static void join_next(struct gaps *g, size_t i)
{
	g->v[i].until = g->v[i + 1].until;
	g->n--;
	memmove(&g->v[i + 1], &g->v[i + 2], (g->n - i - 1) * sizeof g->v[0]);
}

static void join_nearest(struct gaps *g)
{
	size_t nearest = 0;

	for (size_t i = 1; i + 1 < g->n; i++)
		if (g->v[i + 1].from - g->v[i].until < g->v[nearest + 1].from - g->v[nearest].until)
			nearest = i;
	join_next(g, nearest);
}

void gaps_add(struct gaps *g, uint64_t from, uint64_t until)
{
	size_t first = 0;
	size_t end;

	while (first < g->n && g->v[first].until < from)
		first++;
	/* The gaps from |first| to before |end| touch the new one. */
	for (end = first; end < g->n && g->v[end].from <= until; end++) {
		if (g->v[end].from < from)
			from = g->v[end].from;
		if (g->v[end].until > until)
			until = g->v[end].until;
	}
	memmove(&g->v[first + 1], &g->v[end], (g->n - end) * sizeof g->v[0]);
	g->v[first] = (struct loss_gap){from, until};
	g->n = g->n - end + first + 1;
	if (g->n > GAPS_MAX)
		join_nearest(g);
}

void gaps_end(struct gaps *g, uint64_t ticks)
{
	struct loss_gap *last = g->n ? &g->v[g->n - 1] : NULL;

	if (last && last->until == UINT64_MAX)
		last->until = ticks > last->from ? ticks : last->from;
}

bool gaps_has(const struct gaps *g, uint64_t after, uint64_t before)
{
	size_t i = 0;

	while (i < g->n && g->v[i].until < after)
		i++;
	return i < g->n && g->v[i].from <= before;
}
