/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of devices in the making; see device_drawing.h. What details look like is in device_looks.c. */
#include "daemon/pipeline/devices/device_drawing.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "daemon/pipeline/devices/demangle.h"
#include "daemon/pipeline/devices/device_looks.h"
#include "daemon/pipeline/devices/device_scope.h"
#include "daemon/pipeline/devices/devices.h"
#include "daemon/pipeline/devices/launch.h"
#include "daemon/target/string_table.h"

/* Beside what all events of one look say. */
#define MAX_OWN_STATS 3

static const char *const texts_of_stats[N_DEVICE_STATS] = {
	[DEVICE_STAT_CORRELATION] = "correlation_id",
	[DEVICE_STAT_OP] = "tf_op",
	[DEVICE_STAT_STARTED_BEFORE] = "started_before",
	[DEVICE_STAT_CONTEXT] = "context_id",
	[DEVICE_STAT_KERNEL] = "kernel_details",
	[DEVICE_STAT_OCCUPANCY] = "theoretical_occupancy_pct",
	[DEVICE_STAT_MIN_GRID] = "occupancy_min_grid_size",
	[DEVICE_STAT_BLOCK_SIZE] = "occupancy_suggested_block_size",
	[DEVICE_STAT_MANGLED] = "mangled_name",
	[DEVICE_STAT_COPY] = "memcpy_details",
	[DEVICE_STAT_SET] = "Memset_details",
	[DEVICE_STAT_ALLOCATED] = "memalloc_details",
	[DEVICE_STAT_FREED] = "MemFree_details",
	[DEVICE_STAT_GRAPH] = "cuda_graph_id",
	[DEVICE_STAT_NODE] = "cuda_graph_node_id",
	[DEVICE_STAT_GRAPH_EXEC] = "cuda_graph_exec_id",
	[DEVICE_STAT_STREAM] = "stream",
	[DEVICE_STAT_TYPE] = "type",
};

/* --- life ---------------------------------------------------------------------------------- */

int device_drawing_init(
	struct device_drawing *g, struct devices *d, const struct device_scope *scope)
{
	memset(g, 0, sizeof *g);
	g->d = d;
	g->scope = scope;
	g->n_ids = string_table_count_ids(scope->arena);
	g->n_ops = scope->span_names->n_texts;
	g->looks = calloc((size_t)d->details.n + 1, sizeof *g->looks);
	g->texts = calloc((size_t)g->n_ids + 1, sizeof *g->texts);
	g->ops = calloc((size_t)g->n_ops + 1, sizeof *g->ops);
	return g->looks && g->texts && g->ops ? 0 : -ENOMEM;
}

void device_drawing_deinit(struct device_drawing *g)
{
	free(g->looks);
	free(g->stats);
	free(g->texts);
	free(g->ops);
	memset(g, 0, sizeof *g);
}

void device_drawing_begin(
	struct device_drawing *g, struct plane *plane, unsigned collector, unsigned device)
{
	g->plane = plane;
	g->known = devices_find_known(g->d, collector, device);
	memset(g->keys, 0, sizeof g->keys);
	memset(g->texts, 0, g->n_ids * sizeof *g->texts);
	memset(g->ops, 0, g->n_ops * sizeof *g->ops);
	g->n_named_ops = 0;
}

/* --- texts --------------------------------------------------------------------------------- */

static uint32_t intern(struct device_drawing *g, struct names *names, const char *text)
{
	uint32_t number = names_intern(names, text, strlen(text));

	if (number != NAMES_NONE)
		return number;
	g->error = -ENOMEM;
	return 0;
}

uint32_t device_drawing_intern(struct device_drawing *g, const char *text)
{
	return intern(g, &g->plane->stat_names, text);
}

uint32_t device_drawing_intern_name(struct device_drawing *g, const char *text)
{
	return intern(g, &g->plane->event_names, text);
}

uint32_t device_drawing_get_key(struct device_drawing *g, enum device_stat stat)
{
	if (!g->keys[stat])
		g->keys[stat] = device_drawing_intern(g, texts_of_stats[stat]) + 1;
	return g->keys[stat] - 1;
}

static struct device_text make_text(struct device_drawing *g, const char *text)
{
	char plain[DEMANGLE_MAX_BYTES];
	struct device_text made = {0, 0};

	if (demangle(text, plain)) {
		made.mangled = device_drawing_intern(g, text) + 1;
		text = plain;
	}
	made.event_name = device_drawing_intern_name(g, text) + 1;
	return made;
}

void device_drawing_read_text(const struct device_drawing *g, uint32_t id, char *text)
{
	uint32_t n = 0;
	const char *known = string_table_find(g->scope->arena, g->n_ids, id, &n);

	if (!known) {
		snprintf(text, DEVICE_TEXT_BYTES, "(unknown name)");
		return;
	}
	n = n < DEVICE_TEXT_BYTES ? n : DEVICE_TEXT_BYTES - 1;
	memcpy(text, known, n);
	text[n] = '\0';
}

struct device_text device_drawing_get_text(struct device_drawing *g, uint32_t id)
{
	char text[DEVICE_TEXT_BYTES];
	struct device_text made;

	if (id < g->n_ids && g->texts[id].event_name)
		return g->texts[id];
	device_drawing_read_text(g, id, text);
	made = make_text(g, text);
	if (id < g->n_ids)
		g->texts[id] = made;
	return made;
}

int device_drawing_find_op(struct device_drawing *g, uint32_t number, uint32_t *out)
{
	bool is_new = number < g->n_ops && !g->ops[number];

	if (is_new && g->scope->max_ops && g->n_named_ops >= g->scope->max_ops)
		return 0;
	g->n_named_ops += (unsigned)is_new;
	if (is_new)
		g->ops[number] =
			device_drawing_intern(g, names_get(g->scope->span_names, number)) + 1;
	*out = number < g->n_ops ? g->ops[number] - 1 : device_drawing_intern(g, "");
	return 1;
}

/* --- lines --------------------------------------------------------------------------------- */

/* On the time of the trace, which has none below 0. 0: nobody knows when it was. */
static int convert(const struct device_drawing *g, const struct device_clock *clock, uint64_t at_ns,
	int64_t *out)
{
	bool is_known = device_clock_convert(clock, at_ns, out);

	*out -= is_known ? g->scope->base_ns : 0;
	return is_known;
}

/* 1: it is in the recording, or was under way when that began or ended. */
static int place(struct device_drawing *g, const struct device_clock *clock,
	const struct device_event *event, struct trace_event *out)
{
	int64_t end_ns;

	if (!convert(g, clock, event->start_ns, &out->start_ns) ||
		!convert(g, clock, event->end_ns, &end_ns)) {
		g->losses.n_unplaced++;
		return 0;
	}
	if (end_ns < 0 || out->start_ns > g->scope->to_ns) {
		g->losses.n_outside++;
		return 0;
	}
	if (out->start_ns < 0)
		out->start_ns = 0;
	out->duration_ns = end_ns - out->start_ns;
	g->losses.n_inside++;
	return 1;
}

int device_drawing_make_line(struct device_drawing *g, size_t i, struct line *out)
{
	const struct device_line *line = &g->d->lines.v[i];
	const struct device_line_key *key = device_lines_get_key(&g->d->lines, i);
	const struct device_clock *clock = &g->d->clocks[key->collector];
	struct trace_event event = {.stats = 0};
	int r = 0;

	for (size_t k = 0; k < line->n_events && !r; k++) {
		r = cancel_look_at(g->scope->cancel, k);
		if (r || !place(g, clock, &line->events[k], &event))
			continue;
		event.name = device_look_get(g, line->events[k].detail)->name;
		/* A sample stands where it begins. */
		if (key->type == DEVICE_LINE_COUNTER)
			event.duration_ns = 0;
		/* Which it was, until it gets its own. */
		event.stats = (uint32_t)k;
		r = line_add_event(out, &event);
	}
	if (!r)
		line_sort(out);
	g->near = 0;
	return r ? r : g->error;
}

/* --- stats --------------------------------------------------------------------------------- */

static uint32_t add_op(struct device_drawing *g, const struct device_event *event,
	const struct trace_event *placed, struct trace_stat *stats)
{
	uint32_t span =
		launches_find_call(&g->d->launches, event->value, placed->start_ns, &g->near);
	uint32_t op = 0;

	if (!span)
		return 0;
	if (!device_drawing_find_op(g, span - 1, &op)) {
		g->losses.n_unannotated++;
		return 0;
	}
	stats[0].name = device_drawing_get_key(g, DEVICE_STAT_OP);
	stats[0].type = STAT_STRING;
	stats[0].value.string = op;
	return 1;
}

/* Of the call that it belongs to. */
static uint32_t add_call(struct device_drawing *g, const struct device_event *event,
	const struct trace_event *placed, bool has_op, struct trace_stat *stats)
{
	if (!event->value)
		return 0;
	stats[0].name = device_drawing_get_key(g, DEVICE_STAT_CORRELATION);
	stats[0].type = STAT_UINT64;
	stats[0].value.u64 = launch_make_id(g->scope->pid, event->value);
	return 1 + (has_op ? 0 : add_op(g, event, placed, stats + 1));
}

static uint32_t add_cut(struct device_drawing *g, struct trace_stat *stats)
{
	stats[0].name = device_drawing_get_key(g, DEVICE_STAT_STARTED_BEFORE);
	stats[0].type = STAT_INT64;
	stats[0].value.i64 = 1;
	return 1;
}

static bool is_cut(const struct device_drawing *g, const struct device_clock *clock,
	const struct device_event *event, const struct trace_event *placed)
{
	int64_t start_ns;

	return placed->start_ns == 0 && convert(g, clock, event->start_ns, &start_ns) &&
	       start_ns < 0;
}

static void add_event_stats(struct device_drawing *g, const struct device_line_key *key,
	const struct device_event *event, struct trace_event *placed)
{
	const struct device_look *look = device_look_get(g, event->detail);
	struct trace_stat stats[MAX_OWN_STATS + DEVICE_LOOK_MAX_STATS];
	uint32_t n = 0;

	memset(stats, 0, MAX_OWN_STATS * sizeof *stats);
	if (key->type == DEVICE_LINE_STREAM)
		n = add_call(g, event, placed, look->has_op, stats);
	if (is_cut(g, &g->d->clocks[key->collector], event, placed))
		n += add_cut(g, stats + n);
	memcpy(stats + n, g->stats + look->first_stat, look->n_stats * sizeof *stats);
	if (key->type == DEVICE_LINE_COUNTER)
		stats[n].value.u64 = event->value;
	n += look->n_stats;
	placed->stats = n ? plane_add_stats(g->plane, stats, n) : 0;
	if (n && !placed->stats)
		g->error = -ENOMEM;
}

int device_drawing_add_stats(
	struct device_drawing *g, size_t i, struct trace_event *events, size_t n)
{
	const struct device_line *line = &g->d->lines.v[i];
	const struct device_line_key *key = device_lines_get_key(&g->d->lines, i);

	for (size_t k = 0; k < n && !g->error; k++)
		add_event_stats(g, key, &line->events[events[k].stats], &events[k]);
	return g->error;
}
