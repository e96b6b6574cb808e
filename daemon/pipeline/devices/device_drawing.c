/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing of devices; see device_drawing.h. */
#include "daemon/pipeline/devices/device_drawing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/grow.h"
#include "daemon/pipeline/devices/device_details.h"
#include "daemon/pipeline/devices/device_words.h"
#include "daemon/pipeline/devices/devices.h"
#include "daemon/pipeline/devices/launches.h"
#include "daemon/pipeline/devices/occupancy.h"
#include "daemon/target/string_table.h"
#include "trace/model/demangle.h"

/* The most stats of an event that its template holds. */
#define DEVICE_TEMPLATE_MAX_STATS 9
/* The most stats of an event besides those of its template. */
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
	struct device_drawing *g, struct device_records *d, const struct device_scope *scope)
{
	memset(g, 0, sizeof *g);
	g->d = d;
	g->scope = scope;
	g->n_ids = string_table_count_ids(scope->arena);
	g->n_ops = scope->span_names->n_texts;
	g->templates = calloc((size_t)d->details.n + 1, sizeof *g->templates);
	g->texts = calloc((size_t)g->n_ids + 1, sizeof *g->texts);
	g->ops = calloc((size_t)g->n_ops + 1, sizeof *g->ops);
	return g->templates && g->texts && g->ops ? 0 : -ENOMEM;
}

void device_drawing_deinit(struct device_drawing *g)
{
	free(g->templates);
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

static uint32_t intern_text(struct device_drawing *g, struct names *names, const char *text)
{
	uint32_t number = names_intern(names, text, strlen(text));

	if (number != NAMES_NONE)
		return number;
	g->error = -ENOMEM;
	return 0;
}

/* The number of a text in the plane's stat_names. */
static uint32_t device_drawing_intern(struct device_drawing *g, const char *text)
{
	return intern_text(g, &g->plane->stat_names, text);
}

/* The number of a text in the plane's event_names. */
static uint32_t device_drawing_intern_name(struct device_drawing *g, const char *text)
{
	return intern_text(g, &g->plane->event_names, text);
}

/* The number of the stat's name in the plane. */
static uint32_t device_drawing_get_key(struct device_drawing *g, enum device_stat stat)
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

/* The name of an event for |id|, demangled if it is a C++ name. */
static struct device_text device_drawing_get_text(struct device_drawing *g, uint32_t id)
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

/*
 * Sets *out to the name of the span |number| in the plane's stat_names. False when there are too
 * many such names.
 */
static bool device_drawing_find_op(struct device_drawing *g, uint32_t number, uint32_t *out)
{
	bool is_new = number < g->n_ops && !g->ops[number];

	if (is_new && g->scope->max_ops && g->n_named_ops >= g->scope->max_ops)
		return false;
	g->n_named_ops += (unsigned)is_new;
	if (is_new)
		g->ops[number] =
			device_drawing_intern(g, names_get(g->scope->span_names, number)) + 1;
	*out = number < g->n_ops ? g->ops[number] - 1 : device_drawing_intern(g, "");
	return true;
}

/* --- names of counters -------------------------------------------------------------------- */

/* The prefix of the names of counters that are read together; it means nothing to people. */
static const char metric_group[] = "TPC.TriageCompute.";

/* Readable names of NVIDIA's counters: XLA's name if it has one. */
static const struct {
	const char *metric;
	const char *name;
} metric_names[] = {
	{"gpc__cycles_elapsed.avg.per_second", "GPC Clock Frequency (Hz)"},
	{"sys__cycles_elapsed.avg.per_second", "SYS Clock Frequency (Hz)"},
	{"gr__cycles_active.sum.pct_of_peak_sustained_elapsed", "GR Active (%)"},
	{"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "SMs Active (%)"},
	{"sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed",
		"SM Instructions - SM Issue (%)"},
	{"sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed",
		"SM Instructions - Tensor Active (%)"},
	{"sm__warps_active.avg.pct_of_peak_sustained_active",
		"Achieved Occupancy in Active Cycles (%)"},
	{"nvlrx__bytes.avg.pct_of_peak_sustained_elapsed", "NVLink RX Bandwidth (%)"},
	{"nvltx__bytes.avg.pct_of_peak_sustained_elapsed", "NVLink TX Bandwidth (%)"},
	{"dramc__read_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM Read Bandwidth (%)"},
	{"dramc__write_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM Write Bandwidth (%)"},
	{"pcie__read_bytes.avg.pct_of_peak_sustained_elapsed", "PCIe RX Throughput (%)"},
	{"pcie__write_bytes.avg.pct_of_peak_sustained_elapsed", "PCIe TX Throughput (%)"},
	{"sm__inst_executed_pipe_tensor.sum", "Total Tensor Instructions (Count)"},
};

static const char *find_metric_name(const char *metric)
{
	const char *name = metric;

	if (strncmp(name, metric_group, sizeof metric_group - 1) == 0)
		name += sizeof metric_group - 1;
	for (size_t i = 0; i < sizeof metric_names / sizeof *metric_names; i++)
		if (strcmp(metric_names[i].metric, name) == 0)
			return metric_names[i].name;
	return metric;
}

/* A template that is being made. */
struct template_maker {
	struct device_drawing *g;
	const struct device_detail *detail;
	struct trace_stat stats[DEVICE_TEMPLATE_MAX_STATS];
	uint32_t n;
};

/* --- one stat of a template ---------------------------------------------------------------- */

static struct trace_stat *add_stat(
	struct template_maker *m, enum device_stat name, enum stat_type type)
{
	struct trace_stat *stat = &m->stats[m->n++];

	memset(stat, 0, sizeof *stat);
	stat->name = device_drawing_get_key(m->g, name);
	stat->type = (uint8_t)type;
	return stat;
}

static void add_text(struct template_maker *m, enum device_stat name, const char *text)
{
	add_stat(m, name, STAT_STRING)->value.string = device_drawing_intern(m->g, text);
}

static void add_uint(struct template_maker *m, enum device_stat name, uint64_t value)
{
	add_stat(m, name, STAT_UINT64)->value.u64 = value;
}

static void add_int(struct template_maker *m, enum device_stat name, int64_t value)
{
	add_stat(m, name, STAT_INT64)->value.i64 = value;
}

/* --- stats of several kinds --------------------------------------------------------------- */

static void add_context(struct template_maker *m)
{
	char text[16];

	snprintf(text, sizeof text, "$$%u", m->detail->context);
	add_text(m, DEVICE_STAT_CONTEXT, text);
}

/*
 * Adds the stats of a graph's node. True when the node was made in a span: the work belongs to that
 * span, whichever span the graph was executed in.
 */
static bool add_graph(struct template_maker *m)
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
		return false;
	add_stat(m, DEVICE_STAT_OP, STAT_STRING)->value.string = op;
	return true;
}

/* --- stats of one kind --------------------------------------------------------------------- */

static void add_kernel(struct template_maker *m)
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
	add_stat(m, DEVICE_STAT_OCCUPANCY, STAT_DOUBLE)->value.f64 = o.percent;
	add_int(m, DEVICE_STAT_MIN_GRID, o.min_grid);
	add_int(m, DEVICE_STAT_BLOCK_SIZE, o.block_size);
}

static void add_copy(struct template_maker *m)
{
	const struct device_copied *c = &m->detail->of.copy;
	uint16_t to = c->direction == DEVICE_DIRECTION_P2P ? c->to_device : m->detail->device;
	char text[160];

	snprintf(text, sizeof text, "kind_src:%s kind_dst:%s size:%" PRIu64 " dest:%u async:%d",
		device_word_get_memory(c->from), device_word_get_memory(c->to), c->bytes, to,
		c->is_async != 0);
	add_text(m, DEVICE_STAT_COPY, text);
}

static void add_set(struct template_maker *m)
{
	const struct device_filled *s = &m->detail->of.set;
	char text[96];

	snprintf(text, sizeof text, "kind:%s num_bytes:%" PRIu64 " async:%d",
		device_word_get_memory(s->memory), s->bytes, s->is_async != 0);
	add_text(m, DEVICE_STAT_SET, text);
}

static void add_memory(struct template_maker *m)
{
	const struct device_memory_change *c = &m->detail->of.memory;
	char text[96];

	snprintf(text, sizeof text, "kind:%s num_bytes:%" PRIu64, device_word_get_memory(c->memory),
		c->bytes);
	add_text(m, c->op == DEVICE_MEMORY_GIVEN_BACK ? DEVICE_STAT_FREED : DEVICE_STAT_ALLOCATED,
		text);
}

static void add_sync(struct template_maker *m)
{
	const struct device_wait *w = &m->detail->of.sync;

	add_uint(m, DEVICE_STAT_TYPE, w->waited.type);
	if (w->stream == UINT64_MAX)
		add_text(m, DEVICE_STAT_STREAM, "all");
	else
		add_uint(m, DEVICE_STAT_STREAM, w->stream);
}

/* Adds the stat of a counter's value, which each sample sets; viewers show the stat's name. */
static void add_counter(struct template_maker *m, const char *metric)
{
	struct trace_stat *stat = &m->stats[m->n++];

	memset(stat, 0, sizeof *stat);
	stat->name = device_drawing_intern(m->g, metric);
	stat->type = STAT_DOUBLE;
}

static bool add_template_stats(struct template_maker *m)
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

/* --- templates ----------------------------------------------------------------------------- */

static uint32_t add_name(struct template_maker *m)
{
	struct device_text text = {0, 0};
	char word[64];

	if (m->detail->name != STRING_ID_LOST)
		text = device_drawing_get_text(m->g, m->detail->name);
	if (text.mangled)
		add_stat(m, DEVICE_STAT_MANGLED, STAT_STRING)->value.string = text.mangled - 1;
	if (text.event_name)
		return text.event_name - 1;
	device_word_name(m->detail, word, sizeof word);
	return device_drawing_intern_name(m->g, word);
}

/* The stat gets the counter's own name, and the event a name for people. */
static uint32_t name_counter(struct template_maker *m)
{
	char metric[DEVICE_TEXT_BYTES];

	device_drawing_read_text(m->g, m->detail->name, metric);
	add_counter(m, metric);
	return device_drawing_intern_name(m->g, find_metric_name(metric));
}

static int keep_template_stats(struct template_maker *m, struct device_template *template)
{
	struct device_drawing *g = m->g;

	if (grow(&g->stats, &g->n_stats_allocated, g->n_stats + m->n + 1))
		return -ENOMEM;
	memcpy(g->stats + g->n_stats, m->stats, m->n * sizeof *m->stats);
	template->first_stat = (uint32_t)g->n_stats;
	template->n_stats = (uint8_t)m->n;
	g->n_stats += m->n;
	return 0;
}

static const struct device_template *make_template(struct device_drawing *g, uint32_t detail)
{
	struct device_template *template = &g->templates[detail];
	struct template_maker m = {.g = g, .detail = keys_get(&g->d->details, detail)};

	if (m.detail->kind == DEVICE_COUNTER) {
		template->name = name_counter(&m);
	} else {
		template->name = add_name(&m);
		template->has_op = (uint8_t)add_template_stats(&m);
	}
	template->is_made = true;
	if (keep_template_stats(&m, template))
		g->error = -ENOMEM;
	return template;
}

static const struct device_template *get_template(struct device_drawing *g, uint32_t detail)
{
	const struct device_template *template = &g->templates[detail];

	return template->is_made ? template : make_template(g, detail);
}

/* --- lines --------------------------------------------------------------------------------- */

/* Converts to the time of the trace. False when the clock cannot convert. */
static bool convert_time(const struct device_drawing *g, const struct device_clock *clock,
	uint64_t at_ns, int64_t *out)
{
	bool is_known = device_clock_convert(clock, at_ns, out);

	*out -= is_known ? g->scope->base_ns : 0;
	return is_known;
}

/*
 * Sets the times of |out|. Returns false, and counts the event, if they are unknown or all outside
 * of the recording.
 */
static bool place_event(struct device_drawing *g, const struct device_clock *clock,
	const struct device_event *event, struct trace_event *out)
{
	int64_t end_ns;

	if (!convert_time(g, clock, event->start_ns, &out->start_ns) ||
		!convert_time(g, clock, event->end_ns, &end_ns)) {
		g->losses.n_unplaced++;
		return false;
	}
	if (end_ns < 0 || out->start_ns > g->scope->to_ns) {
		g->losses.n_outside++;
		return false;
	}
	if (out->start_ns < 0)
		out->start_ns = 0;
	out->duration_ns = end_ns - out->start_ns;
	g->losses.n_inside++;
	return true;
}

int device_drawing_make_line(struct device_drawing *g, size_t i, struct line *out)
{
	const struct device_line *line = &g->d->lines.v[i];
	const struct device_line_key *key = device_lines_get_key(&g->d->lines, i);
	const struct device_clock *clock = &g->d->clocks[key->collector];
	struct trace_event event = {.stats = 0};
	int r = 0;

	for (size_t k = 0; k < line->n_events && !r; k++) {
		r = cancel_check_at(g->scope->cancel, k);
		if (r || !place_event(g, clock, &line->events[k], &event))
			continue;
		event.name = get_template(g, line->events[k].detail)->name;
		/* A sample has no length. */
		if (key->type == DEVICE_LINE_COUNTER)
			event.duration_ns = 0;
		/* The index of its record, until device_drawing_add_stats(). */
		event.stats = (uint32_t)k;
		r = line_add_event(out, &event);
	}
	if (!r)
		line_sort(out);
	g->near = 0;
	return r ? r : g->error;
}

/* --- stats --------------------------------------------------------------------------------- */

static uint32_t add_span_name(struct device_drawing *g, const struct device_event *event,
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

/* Adds the stats of the call that the event belongs to. */
static uint32_t add_call(struct device_drawing *g, const struct device_event *event,
	const struct trace_event *placed, bool has_op, struct trace_stat *stats)
{
	if (!event->value)
		return 0;
	stats[0].name = device_drawing_get_key(g, DEVICE_STAT_CORRELATION);
	stats[0].type = STAT_UINT64;
	stats[0].value.u64 = launch_make_id(g->scope->pid, event->value);
	return 1 + (has_op ? 0 : add_span_name(g, event, placed, stats + 1));
}

static uint32_t add_started_before(struct device_drawing *g, struct trace_stat *stats)
{
	stats[0].name = device_drawing_get_key(g, DEVICE_STAT_STARTED_BEFORE);
	stats[0].type = STAT_INT64;
	stats[0].value.i64 = 1;
	return 1;
}

static bool began_before_trace(const struct device_drawing *g, const struct device_clock *clock,
	const struct device_event *event, const struct trace_event *placed)
{
	int64_t start_ns;

	return placed->start_ns == 0 && convert_time(g, clock, event->start_ns, &start_ns) &&
	       start_ns < 0;
}

static void add_event_stats(struct device_drawing *g, const struct device_line_key *key,
	const struct device_event *event, struct trace_event *placed)
{
	const struct device_template *template = get_template(g, event->detail);
	struct trace_stat stats[MAX_OWN_STATS + DEVICE_TEMPLATE_MAX_STATS];
	uint32_t n = 0;

	memset(stats, 0, MAX_OWN_STATS * sizeof *stats);
	if (key->type == DEVICE_LINE_STREAM)
		n = add_call(g, event, placed, template->has_op, stats);
	if (began_before_trace(g, &g->d->clocks[key->collector], event, placed))
		n += add_started_before(g, stats + n);
	memcpy(stats + n, g->stats + template->first_stat, template->n_stats * sizeof *stats);
	if (key->type == DEVICE_LINE_COUNTER)
		stats[n].value.u64 = event->value;
	n += template->n_stats;
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
