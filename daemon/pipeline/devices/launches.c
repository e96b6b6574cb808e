/* SPDX-License-Identifier: Apache-2.0 */
/* Calls and the spans around them; see launches.h. How they are found is in launches_find.c. */
#include "daemon/pipeline/devices/launches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* A site, and its group while it waits. */
#define SITE_COST (sizeof(struct launch_site) + sizeof(struct launch_group))
#define MAX_SITES (UINT32_MAX / N_LAUNCH_SITES - 1)

void launches_deinit(struct launches *l)
{
	for (int i = 0; i < N_LAUNCH_SITES; i++)
		free(l->sites[i].v);
	memset(l, 0, sizeof *l);
}

void launch_stack_deinit(struct launch_stack *stack)
{
	free(stack->v);
	memset(stack, 0, sizeof *stack);
}

/* A link is (index + 1) * N_LAUNCH_SITES + kind, 0 at the end. */
static struct launch_site *follow(const struct launches *l, uint32_t link)
{
	return &l->sites[link % N_LAUNCH_SITES].v[link / N_LAUNCH_SITES - 1];
}

/* Nothing more is around them. */
static void resolve(struct launches *l, const struct launch_group *group)
{
	uint32_t link = group->first;

	while (link) {
		struct launch_site *site = follow(l, link);

		site->span = group->span;
		link = site->next;
	}
}

int launches_add(struct launches *l, struct launch_stack *stack, enum launch_site_kind kind,
	const struct launch_site *site, uint64_t start_ticks, unsigned depth, struct purse *purse)
{
	struct launch_sites *sites = &l->sites[kind];
	uint32_t link = (uint32_t)(sites->n + 1) * N_LAUNCH_SITES + kind;

	if (sites->n >= MAX_SITES || !purse_pay(purse, SITE_COST)) {
		l->n_crowded++;
		return 0;
	}
	if (grow(&sites->v, &sites->n_allocated, sites->n + 1) ||
		grow(&stack->v, &stack->n_allocated, stack->n + 1))
		return -ENOMEM;
	sites->v[sites->n] = *site;
	sites->v[sites->n].span = sites->v[sites->n].next = 0;
	sites->n++;
	if (depth)
		stack->v[stack->n++] = (struct launch_group){start_ticks, link, link, 0, depth};
	return 0;
}

/* Those of the groups on top that began within it, as one. */
static void merge(struct launches *l, struct launch_stack *stack, uint64_t start_ticks,
	unsigned depth, uint32_t span)
{
	struct launch_group merged = {.span = span, .depth = depth};

	while (stack->n && launch_stack_is_in(stack, start_ticks, depth)) {
		const struct launch_group *top = &stack->v[--stack->n];

		if (merged.first)
			follow(l, top->last)->next = merged.first;
		else
			merged.last = top->last;
		merged.first = top->first;
		merged.start_ticks = top->start_ticks;
	}
	if (merged.first)
		stack->v[stack->n++] = merged;
}

void launches_end_span(struct launches *l, struct launch_stack *stack, uint64_t start_ticks,
	unsigned depth, uint32_t span)
{
	if (span)
		merge(l, stack, start_ticks, depth, span);
	if (depth == 0)
		launches_end_thread(l, stack);
}

void launches_end_thread(struct launches *l, struct launch_stack *stack)
{
	while (stack->n)
		resolve(l, &stack->v[--stack->n]);
}
