/* SPDX-License-Identifier: Apache-2.0 */
/* Copies, within a device, between it and the host, between two; and memory that was filled. */
#include "lib/plugins/cuda/record_layout.h"
#include "lib/plugins/cuda/records.h"

/* An array is memory of the device, too. */
static const uint8_t directions[] = {
	[COPY_H2D] = PTAP_COPY_H2D,
	[COPY_D2H] = PTAP_COPY_D2H,
	[COPY_H2A] = PTAP_COPY_H2D,
	[COPY_A2H] = PTAP_COPY_D2H,
	[COPY_A2A] = PTAP_COPY_D2D,
	[COPY_A2D] = PTAP_COPY_D2D,
	[COPY_D2A] = PTAP_COPY_D2D,
	[COPY_D2D] = PTAP_COPY_D2D,
	[COPY_H2H] = PTAP_COPY_H2H,
	[COPY_P2P] = PTAP_COPY_P2P,
};

static uint8_t direction_of(uint8_t direction)
{
	return direction < sizeof directions ? directions[direction] : PTAP_COPY_OTHER;
}

static uint8_t memory_of(uint32_t memory)
{
	return memory <= PTAP_MEMORY_MANAGED_STATIC ? (uint8_t)memory : PTAP_MEMORY_UNKNOWN;
}

int record_read_copy(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct copy_record *c = record;

	if (!records_wants(r, PTAP_DEVICE_COPY, c->start_ns, c->end_ns, c->device))
		return 0;
	to->device = (uint16_t)c->device;
	to->context = c->context;
	to->stream = record_stream(c->stream);
	to->correlation =
		records_correlate(r, c->correlation, c->graph, c->graph_node, c->start_ns);
	to->start_ns = c->start_ns;
	to->end_ns = c->end_ns;
	to->of.copy = (struct ptap_device_copied){
		.bytes = c->bytes,
		.graph_node = c->graph_node,
		.graph = c->graph,
		.direction = direction_of(c->direction),
		.from = memory_of(c->from),
		.to = memory_of(c->to),
		.is_async = (c->flags & RECORD_IS_ASYNC) != 0,
	};
	return 1;
}

int record_read_peer_copy(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct peer_copy_record *c = record;

	if (!records_wants(r, PTAP_DEVICE_COPY, c->start_ns, c->end_ns, c->device))
		return 0;
	to->device = (uint16_t)c->device;
	to->context = c->context;
	to->stream = record_stream(c->stream);
	to->correlation =
		records_correlate(r, c->correlation, c->graph, c->graph_node, c->start_ns);
	to->start_ns = c->start_ns;
	to->end_ns = c->end_ns;
	to->of.copy = (struct ptap_device_copied){
		.bytes = c->bytes,
		.graph_node = c->graph_node,
		.graph = c->graph,
		.from_device = (uint16_t)c->from_device,
		.to_device = (uint16_t)c->to_device,
		.direction = PTAP_COPY_P2P,
		.from = memory_of(c->from),
		.to = memory_of(c->to),
		.is_async = (c->flags & RECORD_IS_ASYNC) != 0,
	};
	return 1;
}

int record_read_set(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct set_record *s = record;

	if (!records_wants(r, PTAP_DEVICE_SET, s->start_ns, s->end_ns, s->device))
		return 0;
	to->device = (uint16_t)s->device;
	to->context = s->context;
	to->stream = record_stream(s->stream);
	to->correlation =
		records_correlate(r, s->correlation, s->graph, s->graph_node, s->start_ns);
	to->start_ns = s->start_ns;
	to->end_ns = s->end_ns;
	to->of.set = (struct ptap_device_filled){
		.bytes = s->bytes,
		.graph_node = s->graph_node,
		.graph = s->graph,
		.value = s->value,
		.memory = memory_of(s->memory),
		.is_async = (s->flags & RECORD_IS_ASYNC) != 0,
	};
	return 1;
}
