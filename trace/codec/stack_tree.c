/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the distinct stacks of a track in a hash table of nodes. */
#include "trace/codec/stack_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "trace/codec/codec.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

#define FEW_SLOTS 256

/*
 * Clears the table; frees it if the last track used little of it, so that it is not zeroed again
 * for each of many small ones.
 */
static void clear_table(struct stack_tree *t)
{
	if (t->table.n_slots > FEW_SLOTS && t->table.n_slots / 8 > t->n_nodes)
		hash_table_deinit(&t->table);
	else
		hash_table_clear(&t->table);
}

static void stack_tree_clear(struct stack_tree *t)
{
	lane_stacks_deinit(&t->lanes);
	clear_table(t);
	t->seed = hash_seed();
	t->n_nodes = 0;
}

void stack_tree_deinit(struct stack_tree *t)
{
	stack_tree_clear(t);
	free(t->nodes);
	hash_table_deinit(&t->table);
	*t = (struct stack_tree){NULL};
}

/* --- nodes --------------------------------------------------------------------------------- */

static int reserve_node(struct stack_tree *t)
{
	return grow(&t->nodes, &t->n_nodes_allocated, t->n_nodes + 1) ||
			       hash_table_make_room(&t->table)
		       ? -ENOMEM
		       : 0;
}

/*
 * The root has no name and no slot in the table, so the number of a node in the table is its index.
 * The table begins with FEW_SLOTS, so that the few stacks of most tracks hardly collide.
 */
static int add_root(struct stack_tree *t)
{
	while (t->table.n_slots < FEW_SLOTS)
		if (hash_table_grow(&t->table))
			return -ENOMEM;
	if (reserve_node(t))
		return -ENOMEM;
	t->nodes[t->n_nodes++] = (struct stack_node){0};
	return 0;
}

/* Finds the slot of the node, or the empty one where it belongs. */
static struct hash_slot *find_slot(
	const struct stack_tree *t, uint32_t hash, uint32_t parent, uint32_t name)
{
	struct hash_slot *slot = hash_table_first(&t->table, hash);

	while (slot->number && (slot->hash != hash || t->nodes[slot->number].parent != parent ||
				       t->nodes[slot->number].name != name))
		slot = hash_table_next(&t->table, slot);
	return slot;
}

/* Returns the index of the node, and adds the node if it is new; or -ENOMEM. */
static int64_t take_node(struct stack_tree *t, uint32_t parent, uint32_t name)
{
	uint32_t hash = hash_word(t->seed, (uint64_t)parent << 32 | name);
	struct hash_slot *slot;

	if (t->nodes[parent].depth == STACK_MAX_DEPTH) {
		t->n_too_deep++;
		return parent;
	}
	if (reserve_node(t))
		return -ENOMEM;
	slot = find_slot(t, hash, parent, name);
	if (!slot->number) {
		t->nodes[t->n_nodes++] = (struct stack_node){
			.parent = parent, .name = name, .depth = t->nodes[parent].depth + 1};
		hash_table_add(&t->table, slot, hash);
	}
	t->nodes[slot->number].n_spans++;
	return slot->number;
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
