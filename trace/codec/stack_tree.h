/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The distinct stacks of a track's spans, each with its number of spans and their self time. Memory
 * grows with the stacks, not with the spans.
 */
#ifndef TRACE_CODEC_STACK_TREE_H
#define TRACE_CODEC_STACK_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "trace/codec/span_reader.h"
#include "trace/read/lanes.h"

struct codec_result;
struct diag;
struct view;
struct view_track;

/*
 * The time of deeper spans counts for the stack at this depth, so that lines of folded stacks and
 * samples of pprof have a bounded length.
 */
#define STACK_MAX_DEPTH 1024

struct stack_node {
	uint32_t parent; /* index, less than that of the node; 0: the root, which is no stack */
	uint32_t name; /* index into the view's names */
	uint32_t depth; /* 1: outermost */
	uint64_t n_spans;
	int64_t self_ns; /* >= 0 */
};

/* A tree of all zero bytes is empty. */
struct stack_tree {
	struct stack_node *nodes; /* [0] is the root */
	size_t n_nodes;
	size_t n_nodes_allocated;
	const struct hash_seed *seed;
	struct hash_table table; /* from a parent and a name to the node's index */
	struct lane_stacks lanes;
	struct span_rest rest; /* left-out items of all tracks so far */
	uint64_t n_too_deep; /* too deep spans of all tracks so far */
};

void stack_tree_deinit(struct stack_tree *t);
/*
 * Replaces the stacks by those of the track; spans of a derived line are left out (|rest|). 0 or a
 * negative errno; |d| is set if the error is one of the cursor.
 */
int stack_tree_read(struct stack_tree *t, const struct view *view, const struct view_track *track,
	struct diag *d);
/* Adds the losses of all tracks that were read. */
void stack_tree_lose(const struct stack_tree *t, struct codec_result *result);
/* Fills in the nodes from the outermost one to |node|; returns their number. */
size_t stack_tree_get_path(const struct stack_tree *t, size_t node, uint32_t path[STACK_MAX_DEPTH]);

#endif
