/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding calls; see launches.h. Those of one stream are in the order in which the device did what they asked for, nearly always: a
 * search that begins where the last one ended looks at few.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "daemon/pipeline/devices/launches.h"

/* A graph that was cloned more often than that. */
#define MAX_CLONES 64

static int compare_sites(const void *left, const void *right)
{
	const struct launch_site *a = left;
	const struct launch_site *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->value < b->value ? -1 : a->value > b->value;
}

static bool is_sorted(const struct launch_sites *sites)
{
	for (size_t i = 1; i < sites->n; i++)
		if (compare_sites(&sites->v[i - 1], &sites->v[i]) > 0)
			return false;
	return true;
}

void launches_settle(struct launches *l)
{
	for (int i = 0; i < N_LAUNCH_SITES; i++)
		if (!is_sorted(&l->sites[i]))
			qsort(l->sites[i].v, l->sites[i].n, sizeof *l->sites[i].v, compare_sites);
}

/* How many of those from |low| to |high| are not behind |key|. */
static size_t search(
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

/* The same, near |from|: ever further away, until it lies between. */
static size_t search_near(
	const struct launch_sites *sites, const struct launch_site *key, size_t from)
{
	size_t step = 1;

	if (from >= sites->n || compare_sites(&sites->v[from], key) > 0)
		return search(sites, key, 0, from < sites->n ? from : sites->n);
	while (sites->n - from > step && compare_sites(&sites->v[from + step], key) <= 0) {
		from += step;
		step *= 2;
	}
	return search(sites, key, from + 1, sites->n - from > step ? from + step : sites->n);
}

uint32_t launches_find_call(const struct launches *l, uint64_t id, int64_t start_ns, size_t *near)
{
	const struct launch_sites *sites = &l->sites[LAUNCH_CALL];
	struct launch_site key = {.id = id, .value = start_ns > 0 ? (uint64_t)start_ns : 0};
	size_t i = search_near(sites, &key, *near);

	/* The last one before; clocks need not agree to the nanosecond, so else the first one behind. */
	if (i > 0 && sites->v[i - 1].id == id)
		i--;
	if (i >= sites->n || sites->v[i].id != id)
		return 0;
	*near = i;
	return sites->v[i].span;
}

/* Of several with one id one that was made from another. */
static const struct launch_site *find_node(const struct launch_sites *sites, uint64_t node)
{
	struct launch_site key = {.id = node, .value = UINT64_MAX};
	size_t i = search(sites, &key, 0, sites->n);

	return i > 0 && sites->v[i - 1].id == node ? &sites->v[i - 1] : NULL;
}

uint32_t launches_find_node(const struct launches *l, uint64_t node)
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
