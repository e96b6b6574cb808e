/* SPDX-License-Identifier: Apache-2.0 */
/* The launches of graphs; see launches.h. */
#include "lib/plugins/cuda/launches.h"

#include <string.h>

static uint64_t make_launch_call(uint32_t correlation, uint32_t graph)
{
	return (uint64_t)correlation << 32 | graph;
}

void launches_clear(struct cuda_launches *l)
{
	for (uint32_t i = 0; i < LAUNCHES_KEPT; i++) {
		atomic_store_explicit(&l->kept[i].call, 0, memory_order_relaxed);
		atomic_store_explicit(&l->known[i], 0, memory_order_relaxed);
	}
	memset(l->graphs, 0, sizeof l->graphs);
	atomic_store(&l->n, 0);
}

void launches_note(struct cuda_launches *l, uint32_t correlation, uint32_t graph, uint64_t at_ns)
{
	uint64_t number = atomic_fetch_add_explicit(&l->n, 1, memory_order_relaxed);
	struct cuda_launch *launch = &l->kept[number % LAUNCHES_KEPT];
	uint64_t call = make_launch_call(correlation, graph);

	atomic_store_explicit(&launch->at_ns, at_ns, memory_order_relaxed);
	atomic_store_explicit(&launch->call, call, memory_order_release);
	atomic_store_explicit(&l->known[correlation % LAUNCHES_KEPT], call, memory_order_release);
}

/* Advances to the next launch of the graph, if that launch was before |start_ns|. */
static void advance_graph(struct cuda_launches *l, struct launched_graph *g, uint64_t start_ns)
{
	uint64_t end = atomic_load_explicit(&l->n, memory_order_relaxed);

	if (end > LAUNCHES_KEPT && g->next < end - LAUNCHES_KEPT)
		g->next = end - LAUNCHES_KEPT;
	for (; g->next < end; g->next++) {
		const struct cuda_launch *launch = &l->kept[g->next % LAUNCHES_KEPT];
		uint64_t call = atomic_load_explicit(&launch->call, memory_order_acquire);

		if ((uint32_t)call != g->graph)
			continue;
		if (atomic_load_explicit(&launch->at_ns, memory_order_relaxed) > start_ns)
			return;
		g->answer = (uint32_t)(call >> 32);
		g->next++;
		return;
	}
}

/* Returns the graph's entry. A new entry may replace that of another graph. */
static struct launched_graph *find_launched_graph(
	struct cuda_launches *l, const struct launched_node *node)
{
	struct launched_graph *g = &l->graphs[node->graph % LAUNCHES_GRAPHS];

	if (g->graph != node->graph)
		*g = (struct launched_graph){.graph = node->graph, .first_node = node->node};
	return g;
}

uint32_t launches_find(struct cuda_launches *l, const struct launched_node *node)
{
	uint64_t call = make_launch_call(node->correlation, node->graph);
	struct launched_graph *g;

	if (atomic_load_explicit(
		    &l->known[node->correlation % LAUNCHES_KEPT], memory_order_acquire) == call)
		return node->correlation;
	g = find_launched_graph(l, node);
	if (node->node == g->first_node)
		advance_graph(l, g, node->start_ns);
	return g->answer;
}
