/* SPDX-License-Identifier: Apache-2.0 */
/* Calls and the spans around them; see launches.h. */
#include "daemon/pipeline/devices/launches.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "daemon/target/entry.h"
#include "lib/wire/device.h"

static int read_slot(const struct entry *e, uint32_t i, uint64_t *out)
{
	if (i >= e->n_slots || slot_type(e->slots[i].word[0]) != SLOT_U64)
		return 0;
	*out = e->slots[i].word[1];
	return 1;
}

bool launch_read(const struct entry *e, struct launch_record *out)
{
	uint64_t where;
	uint64_t graph = 0;

	if (!read_slot(e, 0, &out->correlation) || !read_slot(e, 1, &where))
		return false;
	out->device = launch_device(where);
	out->context = launch_context(where);
	out->is_graph = (launch_flags(where) & LAUNCH_IS_GRAPH) != 0;
	if (out->is_graph && !read_slot(e, 2, &graph))
		return false;
	out->graph = (uint32_t)graph;
	return true;
}

bool launch_read_node(const struct entry *e, uint64_t *node, uint64_t *original)
{
	return read_slot(e, 0, node) && read_slot(e, 1, original) && *node;
}

/* The bytes of a site, and of its group while the call waits for spans. */
#define SITE_COST (sizeof(struct launch_site) + sizeof(struct launch_group))
#define MAX_SITES (UINT32_MAX / N_LAUNCH_SITES - 1)

void launches_deinit(struct launch_table *l)
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
static struct launch_site *follow_link(const struct launch_table *l, uint32_t link)
{
	return &l->sites[link % N_LAUNCH_SITES].v[link / N_LAUNCH_SITES - 1];
}

/* Sets the span of the calls of a group, when no further span can enclose them. */
static void resolve_group(struct launch_table *l, const struct launch_group *group)
{
	uint32_t link = group->first;

	while (link) {
		struct launch_site *site = follow_link(l, link);

		site->span = group->span;
		link = site->next;
	}
}

int launches_add(struct launch_table *l, struct launch_stack *stack, enum launch_site_kind kind,
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

/* Merges the groups on top that began within the span into one. */
static void merge_groups(struct launch_table *l, struct launch_stack *stack, uint64_t start_ticks,
	unsigned depth, uint32_t span)
{
	struct launch_group merged = {.span = span, .depth = depth};

	while (stack->n && launch_stack_is_in(stack, start_ticks, depth)) {
		const struct launch_group *top = &stack->v[--stack->n];

		if (merged.first)
			follow_link(l, top->last)->next = merged.first;
		else
			merged.last = top->last;
		merged.first = top->first;
		merged.start_ticks = top->start_ticks;
	}
	if (merged.first)
		stack->v[stack->n++] = merged;
}

void launches_end_span(struct launch_table *l, struct launch_stack *stack, uint64_t start_ticks,
	unsigned depth, uint32_t span)
{
	if (span)
		merge_groups(l, stack, start_ticks, depth, span);
	if (depth == 0)
		launches_end_thread(l, stack);
}

void launches_end_thread(struct launch_table *l, struct launch_stack *stack)
{
	while (stack->n)
		resolve_group(l, &stack->v[--stack->n]);
}

/* --- finding ------------------------------------------------------------------------------ */

/*
 * The calls of one stream are nearly always in the order in which the device executed them, so a
 * search that begins where the last one ended takes few steps.
 */

/* The most steps from a cloned node back to its original. */
#define MAX_CLONES 64

static int compare_sites(const void *left, const void *right)
{
	const struct launch_site *a = left;
	const struct launch_site *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->value < b->value ? -1 : a->value > b->value;
}

static bool sites_are_sorted(const struct launch_sites *sites)
{
	for (size_t i = 1; i < sites->n; i++)
		if (compare_sites(&sites->v[i - 1], &sites->v[i]) > 0)
			return false;
	return true;
}

void launches_settle(struct launch_table *l)
{
	for (int i = 0; i < N_LAUNCH_SITES; i++)
		if (!sites_are_sorted(&l->sites[i]))
			qsort(l->sites[i].v, l->sites[i].n, sizeof *l->sites[i].v, compare_sites);
}

/* The index of the first site from |low| to |high| that is behind |key|. */
static size_t search_sites(
	const struct launch_sites *sites, const struct launch_site *key, size_t low, size_t high)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_sites(&sites->v[middle], key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Searches near |from|, in growing steps. */
static size_t search_sites_near(
	const struct launch_sites *sites, const struct launch_site *key, size_t from)
{
	size_t step = 1;

	if (from >= sites->n || compare_sites(&sites->v[from], key) > 0)
		return search_sites(sites, key, 0, from < sites->n ? from : sites->n);
	while (sites->n - from > step && compare_sites(&sites->v[from + step], key) <= 0) {
		from += step;
		step *= 2;
	}
	return search_sites(sites, key, from + 1, sites->n - from > step ? from + step : sites->n);
}

uint32_t launches_find_call(
	const struct launch_table *l, uint64_t id, int64_t start_ns, size_t *near)
{
	const struct launch_sites *sites = &l->sites[LAUNCH_CALL];
	struct launch_site key = {.id = id, .value = start_ns > 0 ? (uint64_t)start_ns : 0};
	size_t i = search_sites_near(sites, &key, *near);

	/*
	 * Takes the last call before |start_ns|, or else the first one behind it, because clocks
	 * need not agree to the nanosecond.
	 */
	if (i > 0 && sites->v[i - 1].id == id)
		i--;
	if (i >= sites->n || sites->v[i].id != id)
		return 0;
	*near = i;
	return sites->v[i].span;
}

/* Finds a node. If several have the id, prefers one that was made from another node. */
static const struct launch_site *find_node(const struct launch_sites *sites, uint64_t node)
{
	struct launch_site key = {.id = node, .value = UINT64_MAX};
	size_t i = search_sites(sites, &key, 0, sites->n);

	return i > 0 && sites->v[i - 1].id == node ? &sites->v[i - 1] : NULL;
}

uint32_t launches_find_node(const struct launch_table *l, uint64_t node)
{
	uint32_t span = 0;

	for (int i = 0; node && i < MAX_CLONES; i++) {
		const struct launch_site *site = find_node(&l->sites[LAUNCH_NODE], node);

		if (!site)
			break;
		if (site->span)
			span = site->span;
		node = site->value;
	}
	return span;
}
