/* SPDX-License-Identifier: Apache-2.0 */
/* Details as names and stats; see device_looks.h. Forms and types are those that XProf reads. */
#include "daemon/pipeline/devices/device_looks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "daemon/pipeline/devices/device_details.h"
#include "daemon/pipeline/devices/device_words.h"
#include "daemon/pipeline/devices/devices.h"
#include "daemon/pipeline/devices/metric_names.h"
#include "daemon/pipeline/devices/occupancy.h"

/* One in the making. */
struct making {
	struct device_drawing *g;
	const struct device_detail *detail;
	struct trace_stat stats[DEVICE_LOOK_MAX_STATS];
	uint32_t n;
};

/* --- one stat ------------------------------------------------------------------------------ */

static struct trace_stat *add(struct making *m, enum device_stat name, enum stat_type type)
{
	struct trace_stat *stat = &m->stats[m->n++];

	memset(stat, 0, sizeof *stat);
	stat->name = device_drawing_get_key(m->g, name);
	stat->type = (uint8_t)type;
	return stat;
}

static void add_text(struct making *m, enum device_stat name, const char *text)
{
	add(m, name, STAT_STRING)->value.string = device_drawing_intern(m->g, text);
}

static void add_uint(struct making *m, enum device_stat name, uint64_t value)
{
	add(m, name, STAT_UINT64)->value.u64 = value;
}

static void add_int(struct making *m, enum device_stat name, int64_t value)
{
	add(m, name, STAT_INT64)->value.i64 = value;
}

/* --- what several kinds have --------------------------------------------------------------- */

static void add_context(struct making *m)
{
	char text[16];

	snprintf(text, sizeof text, "$$%u", m->detail->context);
	add_text(m, DEVICE_STAT_CONTEXT, text);
}

/* 1: it belongs to a span, wherever it was executed from. */
static int add_graph(struct making *m)
{
	uint32_t graph = device_detail_get_graph(m->detail);
	uint64_t node = device_detail_get_node(m->detail);
	uint32_t span = launches_find_node(&m->g->d->launches, node);
	uint32_t op = 0;

	if (graph)
		add_uint(m, DEVICE_STAT_GRAPH, graph);
	if (node)
		add_uint(m, DEVICE_STAT_NODE, node);
	if (!span || !device_drawing_find_op(m->g, span - 1, &op))
		return 0;
	add(m, DEVICE_STAT_OP, STAT_STRING)->value.string = op;
	return 1;
}

/* --- kinds --------------------------------------------------------------------------------- */

static void add_kernel(struct making *m)
{
	static const struct device_info nothing;
	const struct device_kernel *k = &m->detail->of.kernel;
	struct occupancy o = occupancy_find(m->g->known ? &m->g->known->info : &nothing, k);
	char text[256];

	snprintf(text, sizeof text,
		"regs:%u static_shared:%u dynamic_shared:%u grid:%u,%u,%u block:%u,%u,%u occ_pct:%g",
		k->registers, k->static_shared, k->dynamic_shared, k->grid[0], k->grid[1],
		k->grid[2], k->block[0], k->block[1], k->block[2], o.percent);
	add_text(m, DEVICE_STAT_KERNEL, text);
	add(m, DEVICE_STAT_OCCUPANCY, STAT_DOUBLE)->value.f64 = o.percent;
	add_int(m, DEVICE_STAT_MIN_GRID, o.min_grid);
	add_int(m, DEVICE_STAT_BLOCK_SIZE, o.block_size);
}

static void add_copy(struct making *m)
{
	const struct device_copied *c = &m->detail->of.copy;
	uint16_t to = c->direction == DEVICE_DIRECTION_P2P ? c->to_device : m->detail->device;
	char text[160];

	snprintf(text, sizeof text, "kind_src:%s kind_dst:%s size:%" PRIu64 " dest:%u async:%d",
		device_word_get_memory(c->from), device_word_get_memory(c->to), c->bytes, to,
		c->is_async != 0);
	add_text(m, DEVICE_STAT_COPY, text);
}

static void add_set(struct making *m)
{
	const struct device_filled *s = &m->detail->of.set;
	char text[96];

	snprintf(text, sizeof text, "kind:%s num_bytes:%" PRIu64 " async:%d",
		device_word_get_memory(s->memory), s->bytes, s->is_async != 0);
	add_text(m, DEVICE_STAT_SET, text);
}

static void add_memory(struct making *m)
{
	const struct device_memory_change *c = &m->detail->of.memory;
	char text[96];

	snprintf(text, sizeof text, "kind:%s num_bytes:%" PRIu64, device_word_get_memory(c->memory),
		c->bytes);
	add_text(m, c->op == DEVICE_MEMORY_GIVEN_BACK ? DEVICE_STAT_FREED : DEVICE_STAT_ALLOCATED,
		text);
}

static void add_sync(struct making *m)
{
	const struct device_wait *w = &m->detail->of.sync;

	add_uint(m, DEVICE_STAT_TYPE, w->waited.type);
	if (w->stream == UINT64_MAX)
		add_text(m, DEVICE_STAT_STREAM, "all");
	else
		add_uint(m, DEVICE_STAT_STREAM, w->stream);
}

/* The value is each sample's own; viewers show the stat's name beside it. */
static void add_counter(struct making *m, const char *metric)
{
	struct trace_stat *stat = &m->stats[m->n++];

	memset(stat, 0, sizeof *stat);
	stat->name = device_drawing_intern(m->g, metric);
	stat->type = STAT_DOUBLE;
}

static int add_stats(struct making *m)
{
	add_context(m);
	switch (m->detail->kind) {
	case DEVICE_KERNEL:
		add_kernel(m);
		break;
	case DEVICE_COPY:
		add_copy(m);
		break;
	case DEVICE_SET:
		add_set(m);
		break;
	case DEVICE_MEMORY:
		add_memory(m);
		break;
	case DEVICE_SYNC:
		add_sync(m);
		break;
	case DEVICE_GRAPH:
		add_uint(m, DEVICE_STAT_GRAPH_EXEC, m->detail->of.graph.graph);
		break;
	default:
		break;
	}
	return add_graph(m);
}

/* --- all of it ----------------------------------------------------------------------------- */

static uint32_t add_name(struct making *m)
{
	struct device_text text = {0, 0};
	char word[64];

	if (m->detail->name != STRING_ID_LOST)
		text = device_drawing_get_text(m->g, m->detail->name);
	if (text.mangled)
		add(m, DEVICE_STAT_MANGLED, STAT_STRING)->value.string = text.mangled - 1;
	if (text.event_name)
		return text.event_name - 1;
	device_word_name(m->detail, word, sizeof word);
	return device_drawing_intern_name(m->g, word);
}

/* A counter's own name is its stat's, and the event has one for people. */
static uint32_t name_counter(struct making *m)
{
	char metric[DEVICE_TEXT_BYTES];

	device_drawing_read_text(m->g, m->detail->name, metric);
	add_counter(m, metric);
	return device_drawing_intern_name(m->g, metric_names_find(metric));
}

static int keep_stats(struct making *m, struct device_look *look)
{
	struct device_drawing *g = m->g;

	if (grow(&g->stats, &g->n_stats_allocated, g->n_stats + m->n + 1))
		return -ENOMEM;
	memcpy(g->stats + g->n_stats, m->stats, m->n * sizeof *m->stats);
	look->first_stat = (uint32_t)g->n_stats;
	look->n_stats = (uint8_t)m->n;
	g->n_stats += m->n;
	return 0;
}

const struct device_look *device_look_make(struct device_drawing *g, uint32_t detail)
{
	struct device_look *look = &g->looks[detail];
	struct making m = {.g = g, .detail = keys_get(&g->d->details, detail)};

	if (m.detail->kind == DEVICE_COUNTER) {
		look->name = name_counter(&m);
	} else {
		look->name = add_name(&m);
		look->has_op = (uint8_t)add_stats(&m);
	}
	look->is_made = true;
	if (keep_stats(&m, look))
		g->error = -ENOMEM;
	return look;
}
