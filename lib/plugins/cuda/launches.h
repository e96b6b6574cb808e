/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launches of graphs, for a CUPTI that forgets them: from 13.0 to 13.1, in each session but the first, what a graph executes has
 * the correlation of some other call. An executable graph runs once at a time, in the order of its launches: so the first of its nodes
 * that is seen again begins what the next launch has started. A guess, and only made where the correlation is no launch of that graph.
 *
 * Noted by any thread, without a lock; looked up by the thread of collectors. The newest 16,384 are kept, of 64 graphs.
 */
#ifndef PLUGINS_CUDA_LAUNCHES_H
#define PLUGINS_CUDA_LAUNCHES_H

#include <stdatomic.h>
#include <stdint.h>

#define LAUNCHES_KEPT 16384u
#define LAUNCHES_GRAPHS 64u

struct launch {
	_Atomic uint64_t call; /* correlation << 32 | graph */
	_Atomic uint64_t at_ns; /* in CUPTI's clock */
};

/* Where the records of a graph are. */
struct launched_graph {
	uint32_t graph; /* 0: none */
	uint32_t answer; /* correlation of the launch */
	uint64_t first_node;
	uint64_t next; /* number of the launch to look at next */
};

struct launches {
	_Atomic uint64_t n;
	struct launch kept[LAUNCHES_KEPT]; /* in their order */
	_Atomic uint64_t known[LAUNCHES_KEPT]; /* |call|, by correlation */
	struct launched_graph graphs[LAUNCHES_GRAPHS];
};

void launches_clear(struct launches *l);
void launches_note(struct launches *l, uint32_t correlation, uint32_t graph, uint64_t at_ns);

struct launched_node {
	uint64_t node;
	uint64_t start_ns;
	uint32_t graph;
	uint32_t correlation; /* as CUPTI says */
};

/* The correlation of the launch that it belongs to: CUPTI's if that is one, or a guess; 0: there is none. In the order of records. */
uint32_t launches_find(struct launches *l, const struct launched_node *node);

#endif
