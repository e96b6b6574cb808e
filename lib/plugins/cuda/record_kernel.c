/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels, and graphs as a whole. */
#include "lib/plugins/cuda/record_layout.h"
#include "lib/plugins/cuda/records.h"

int record_read_kernel(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct kernel_record *k = record;

	if (!records_wants(r, PTAP_DEVICE_KERNEL, k->start_ns, k->end_ns, k->device))
		return 0;
	to->name = k->name ? names_find(&r->names, PTAP_DEVICE_KERNEL, k->name) : 0;
	to->device = (uint16_t)k->device;
	to->context = k->context;
	to->stream = record_stream(k->stream);
	to->correlation =
		records_correlate(r, k->correlation, k->graph, k->graph_node, k->start_ns);
	to->start_ns = k->start_ns;
	to->end_ns = k->end_ns;
	to->of.kernel = (struct ptap_device_kernel){
		.grid = {k->grid[0], k->grid[1], k->grid[2]},
		.block = {(uint16_t)k->block[0], (uint16_t)k->block[1], (uint16_t)k->block[2]},
		.registers = k->registers,
		.static_shared = k->static_shared,
		.dynamic_shared = k->dynamic_shared,
		.graph = k->graph,
		.graph_node = k->graph_node,
	};
	return 1;
}

int record_read_graph(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct graph_record *g = record;

	if (!records_wants(r, PTAP_DEVICE_GRAPH, g->start_ns, g->end_ns, g->device))
		return 0;
	to->device = (uint16_t)g->device;
	to->context = g->context;
	to->stream = record_stream(g->stream);
	to->correlation = records_correlate(r, g->correlation, g->graph, 0, g->start_ns);
	to->start_ns = g->start_ns;
	to->end_ns = g->end_ns;
	to->of.graph.graph = g->graph;
	return 1;
}
