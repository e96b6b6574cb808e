/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launches of graphs, for versions of CUPTI that forget them: from 13.0 to 13.1, in each
 * session but the first, a graph's activities have the correlation of some other call. An
 * executable graph runs once at a time, in the order of its launches. So when the first of its
 * nodes is seen again, the next launch has started. This is a guess, made only where the
 * correlation is not a launch of that graph.
 *
 * Any thread notes launches, without a lock; the collectors' thread looks them up. The newest
 * 16,384 of all graphs are kept, and the progress of 64 graphs.
 */
#ifndef PLUGINS_CUDA_LAUNCHES_H
#define PLUGINS_CUDA_LAUNCHES_H

#include <stdatomic.h>
#include <stdint.h>

#define LAUNCHES_KEPT 16384u
#define LAUNCHES_GRAPHS 64u

struct cuda_launch {
	_Atomic uint64_t call; /* correlation << 32 | graph */
	_Atomic uint64_t at_ns; /* ns, in CUPTI's clock */
};

/* The progress through the records of a graph. */
struct launched_graph {
	uint32_t graph; /* 0: none */
	uint32_t answer; /* the correlation of the current launch */
	uint64_t first_node;
	uint64_t next; /* the number of the next launch to check */
};

struct cuda_launches {
	_Atomic uint64_t n;
	struct cuda_launch kept[LAUNCHES_KEPT]; /* in the order of the launches */
	_Atomic uint64_t known[LAUNCHES_KEPT]; /* |call|, indexed by correlation */
	struct launched_graph graphs[LAUNCHES_GRAPHS];
};

void launches_clear(struct cuda_launches *l);
void launches_note(struct cuda_launches *l, uint32_t correlation, uint32_t graph, uint64_t at_ns);

struct launched_node {
	uint64_t node;
	uint64_t start_ns;
	uint32_t graph;
	uint32_t correlation; /* CUPTI's correlation */
};

/*
 * The correlation of the launch that |node| belongs to: CUPTI's if that is a launch, or a guess; 0:
 * none. Call it in the order of records.
 */
uint32_t launches_find(struct cuda_launches *l, const struct launched_node *node);

#endif
