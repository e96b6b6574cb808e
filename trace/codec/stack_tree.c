/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the distinct stacks of a track in a hash table of nodes. */
#include "trace/codec/stack_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/codec/codec.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

#define FEW_SLOTS 256

/*
 * Frees the table after a large track, so that it is not zeroed again for each of many small ones.
 */
static void clear_slots(struct stack_tree *t)
{
	if (t->n_slots > FEW_SLOTS && t->n_slots / 8 > t->n_nodes) {
		free(t->slots);
		t->slots = NULL;
		t->n_slots = 0;
	}
	if (t->n_slots)
		memset(t->slots, 0, t->n_slots * sizeof *t->slots);
}

static void stack_tree_clear(struct stack_tree *t)
{
	lane_stacks_deinit(&t->lanes);
	clear_slots(t);
	t->n_nodes = 0;
}

void stack_tree_deinit(struct stack_tree *t)
{
	stack_tree_clear(t);
	free(t->nodes);
	free(t->slots);
	*t = (struct stack_tree){NULL};
}

/* --- nodes --------------------------------------------------------------------------------- */

static size_t hash_node(uint32_t parent, uint32_t name)
{
	uint64_t key = ((uint64_t)parent << 32 | name) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(key ^ key >> 32);
}

/* Finds the slot of the node, or the empty one where it belongs. */
static uint32_t *find_slot(const struct stack_tree *t, uint32_t parent, uint32_t name)
{
	size_t i = hash_node(parent, name) & (t->n_slots - 1);

	while (t->slots[i] &&
		(t->nodes[t->slots[i]].parent != parent || t->nodes[t->slots[i]].name != name))
		i = (i + 1) & (t->n_slots - 1);
	return &t->slots[i];
}

static int grow_slots(struct stack_tree *t)
{
	size_t n = t->n_slots ? 2 * t->n_slots : FEW_SLOTS;
	uint32_t *slots = calloc(n, sizeof *slots);

	if (!slots)
		return -ENOMEM;
	free(t->slots);
	t->slots = slots;
	t->n_slots = n;
	for (size_t i = 1; i < t->n_nodes; i++)
		*find_slot(t, t->nodes[i].parent, t->nodes[i].name) = (uint32_t)i;
	return 0;
}

static int reserve_node(struct stack_tree *t)
{
	if (t->n_nodes >= UINT32_MAX || grow(&t->nodes, &t->n_nodes_allocated, t->n_nodes + 1))
		return -ENOMEM;
	return 2 * (t->n_nodes + 1) > t->n_slots ? grow_slots(t) : 0;
}

static int add_root(struct stack_tree *t)
{
	if (reserve_node(t))
		return -ENOMEM;
	t->nodes[t->n_nodes++] = (struct stack_node){0};
	return 0;
}

/* Returns the node's index, which is added if it is new, or -ENOMEM. */
static int64_t take_node(struct stack_tree *t, uint32_t parent, uint32_t name)
{
	uint32_t *slot;

	if (t->nodes[parent].depth == STACK_MAX_DEPTH) {
		t->n_too_deep++;
		return parent;
	}
	if (reserve_node(t))
		return -ENOMEM;
	slot = find_slot(t, parent, name);
	if (*slot == 0) {
		t->nodes[t->n_nodes] = (struct stack_node){
			.parent = parent, .name = name, .depth = t->nodes[parent].depth + 1};
		*slot = (uint32_t)t->n_nodes++;
	}
	t->nodes[*slot].n_spans++;
	return *slot;
}

/* --- spans --------------------------------------------------------------------------------- */

static void close_until(struct stack_tree *t, struct lane_stack *lane, int64_t ns)
{
	struct lane_span closed;

	while (lane_stack_close(lane, ns, &closed))
		t->nodes[closed.id].self_ns =
			add_saturated(t->nodes[closed.id].self_ns, closed.self_ns);
}

static int add_span(struct stack_tree *t, const struct item *item, int64_t lane_number)
{
	struct lane_stack *lane = lane_stacks_get(&t->lanes, lane_number);
	const struct lane_span *parent;
	int64_t node;

	if (!lane)
		return -ENOMEM;
	close_until(t, lane, item->start_ns);
	parent = lane_stack_get(lane);
	node = take_node(t, parent ? parent->id : 0, item->name);
	if (node < 0)
		return -ENOMEM;
	return lane_stack_push(lane, (uint32_t)node, item->start_ns, item->duration_ns);
}

/* Spans of derived lines are left out: they would count the same time twice. */
static int take_span(struct stack_tree *t, const struct span_reader *spans)
{
	if (!spans->cursor.track->is_derived)
		return add_span(t, &spans->item, spans->lane);
	t->rest.n_derived++;
	return 0;
}

static int stack_tree_fill(struct stack_tree *t, struct span_reader *spans)
{
	int r;

	stack_tree_clear(t);
	r = add_root(t);
	while (r >= 0 && (r = span_reader_next(spans)) > 0)
		r = take_span(t, spans);
	for (size_t i = 0; i < t->lanes.n; i++)
		close_until(t, &t->lanes.v[i], INT64_MAX);
	return r;
}

int stack_tree_read(struct stack_tree *t, const struct view *view, const struct view_track *track,
	struct diag *d)
{
	struct span_reader reader;
	int r = span_reader_open(&reader, view, track, &t->rest, d);

	if (r == 0)
		r = stack_tree_fill(t, &reader);
	span_reader_close(&reader);
	return r;
}

void stack_tree_lose(const struct stack_tree *t, struct codec_result *result)
{
	span_rest_lose(&t->rest, result);
	codec_lose(result, "spans inside of 1024 others", t->n_too_deep);
}

size_t stack_tree_get_path(const struct stack_tree *t, size_t node, uint32_t path[STACK_MAX_DEPTH])
{
	size_t n = t->nodes[node].depth;

	for (size_t i = n; i > 0; i--) {
		path[i - 1] = (uint32_t)node;
		node = t->nodes[node].parent;
	}
	return n;
}
