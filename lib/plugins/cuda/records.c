/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's records, read and handed on; see records.h. */
#include "lib/plugins/cuda/records.h"

#include <stdbool.h>
#include <string.h>

#include "lib/plugins/cuda/contexts.h"
#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/launches.h"
#include "lib/plugins/cuda/record_layout.h"

/*
 * Whether a record with these times on that device is to be handed on. A record that should be, but
 * cannot be, is counted as lost.
 */
static bool wants_record(struct records *r, enum ptap_device_kind kind, uint64_t start_ns,
	uint64_t end_ns, uint32_t device)
{
	if (device >= r->n_devices)
		return false;
	if (!start_ns || !end_ns) {
		losses_add(&r->losses, PTAP_DEVICE_LOSS_INCOMPLETE, kind, 1);
		return false;
	}
	if (end_ns < start_ns || device > UINT16_MAX) {
		losses_add(&r->losses, PTAP_DEVICE_LOSS_INVALID, kind, 1);
		return false;
	}
	if (end_ns < r->from_ns || start_ns > r->until_ns)
		return false;
	if (r->n_wanted >= r->max_wanted) {
		losses_add(&r->losses, PTAP_DEVICE_LOSS_RECORDS, kind, 1);
		return false;
	}
	r->n_wanted++;
	return true;
}

/* The correlation of a graph's activity, see launches.h; that of other work is unchanged. */
static uint64_t correlate_record(
	struct records *r, uint32_t correlation, uint32_t graph, uint64_t node, uint64_t start_ns)
{
	struct launched_node launched = {node, start_ns, graph, correlation};

	return graph && r->launches ? launches_find(r->launches, &launched) : correlation;
}

/* Converts a stream's number; CUPTI's "no stream" becomes UINT64_MAX. */
static uint64_t convert_stream(uint32_t stream)
{
	return stream == UINT32_MAX ? UINT64_MAX : stream;
}

/* --- copies, and memory that was filled ---------------------------------------------------- */

/* An array is device memory, too. */
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

static uint8_t get_direction(uint8_t direction)
{
	return direction < sizeof directions ? directions[direction] : PTAP_COPY_OTHER;
}

static uint8_t get_memory(uint32_t memory)
{
	return memory <= PTAP_MEMORY_MANAGED_STATIC ? (uint8_t)memory : PTAP_MEMORY_UNKNOWN;
}

static bool read_copy(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct copy_record *c = record;

	if (!wants_record(r, PTAP_DEVICE_COPY, c->start_ns, c->end_ns, c->device))
		return false;
	to->device = (uint16_t)c->device;
	to->context = c->context;
	to->stream = convert_stream(c->stream);
	to->correlation = correlate_record(r, c->correlation, c->graph, c->graph_node, c->start_ns);
	to->start_ns = c->start_ns;
	to->end_ns = c->end_ns;
	to->of.copy = (struct ptap_device_copied){
		.bytes = c->bytes,
		.graph_node = c->graph_node,
		.graph = c->graph,
		.direction = get_direction(c->direction),
		.from = get_memory(c->from),
		.to = get_memory(c->to),
		.is_async = (c->flags & RECORD_IS_ASYNC) != 0,
	};
	return true;
}

static bool read_peer_copy(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct peer_copy_record *c = record;

	if (!wants_record(r, PTAP_DEVICE_COPY, c->start_ns, c->end_ns, c->device))
		return false;
	to->device = (uint16_t)c->device;
	to->context = c->context;
	to->stream = convert_stream(c->stream);
	to->correlation = correlate_record(r, c->correlation, c->graph, c->graph_node, c->start_ns);
	to->start_ns = c->start_ns;
	to->end_ns = c->end_ns;
	to->of.copy = (struct ptap_device_copied){
		.bytes = c->bytes,
		.graph_node = c->graph_node,
		.graph = c->graph,
		.from_device = (uint16_t)c->from_device,
		.to_device = (uint16_t)c->to_device,
		.direction = PTAP_COPY_P2P,
		.from = get_memory(c->from),
		.to = get_memory(c->to),
		.is_async = (c->flags & RECORD_IS_ASYNC) != 0,
	};
	return true;
}

static bool read_set(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct set_record *s = record;

	if (!wants_record(r, PTAP_DEVICE_SET, s->start_ns, s->end_ns, s->device))
		return false;
	to->device = (uint16_t)s->device;
	to->context = s->context;
	to->stream = convert_stream(s->stream);
	to->correlation = correlate_record(r, s->correlation, s->graph, s->graph_node, s->start_ns);
	to->start_ns = s->start_ns;
	to->end_ns = s->end_ns;
	to->of.set = (struct ptap_device_filled){
		.bytes = s->bytes,
		.graph_node = s->graph_node,
		.graph = s->graph,
		.value = s->value,
		.memory = get_memory(s->memory),
		.is_async = (s->flags & RECORD_IS_ASYNC) != 0,
	};
	return true;
}

/* --- kernels and graphs -------------------------------------------------------------------- */

static bool read_kernel(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct kernel_record *k = record;

	if (!wants_record(r, PTAP_DEVICE_KERNEL, k->start_ns, k->end_ns, k->device))
		return false;
	to->name = k->name ? cuda_names_find(&r->names, PTAP_DEVICE_KERNEL, k->name) : 0;
	to->device = (uint16_t)k->device;
	to->context = k->context;
	to->stream = convert_stream(k->stream);
	to->correlation = correlate_record(r, k->correlation, k->graph, k->graph_node, k->start_ns);
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
	return true;
}

static bool read_graph(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct graph_record *g = record;

	if (!wants_record(r, PTAP_DEVICE_GRAPH, g->start_ns, g->end_ns, g->device))
		return false;
	to->device = (uint16_t)g->device;
	to->context = g->context;
	to->stream = convert_stream(g->stream);
	to->correlation = correlate_record(r, g->correlation, g->graph, 0, g->start_ns);
	to->start_ns = g->start_ns;
	to->end_ns = g->end_ns;
	to->of.graph.graph = g->graph;
	return true;
}

/* --- device memory ------------------------------------------------------------------------- */

static bool read_memory(struct records *r, const void *record, struct ptap_device_record *to)
{
	static const uint8_t operations[] = {0, PTAP_MEMORY_TAKEN, PTAP_MEMORY_GIVEN_BACK};
	const struct memory_record *m = record;

	if (!wants_record(r, PTAP_DEVICE_MEMORY, m->ns, m->ns, m->device))
		return false;
	to->device = (uint16_t)m->device;
	to->context = m->context;
	to->stream = convert_stream(m->stream);
	to->correlation = m->correlation;
	to->start_ns = m->ns;
	to->end_ns = m->ns;
	to->of.memory = (struct ptap_device_memory_change){
		.address = m->address,
		.bytes = m->bytes,
		.op = m->operation < sizeof operations ? operations[m->operation] : 0,
		.memory = m->memory <= PTAP_MEMORY_MANAGED_STATIC ? (uint8_t)m->memory
								  : PTAP_MEMORY_UNKNOWN,
	};
	return true;
}

static bool read_memory_pool(struct records *r, const void *record, struct ptap_device_record *to)
{
	static const uint8_t operations[] = {
		0, PTAP_MEMORY_POOL_MADE, PTAP_MEMORY_POOL_GONE, PTAP_MEMORY_POOL_TRIMMED};
	const struct memory_pool_record *m = record;

	if (!wants_record(r, PTAP_DEVICE_MEMORY, m->ns, m->ns, m->device))
		return false;
	to->device = (uint16_t)m->device;
	to->stream = UINT64_MAX;
	to->correlation = m->correlation;
	to->start_ns = m->ns;
	to->end_ns = m->ns;
	to->of.memory = (struct ptap_device_memory_change){
		.address = m->address,
		.bytes = m->operation == 3 ? m->kept_bytes : m->bytes,
		.op = m->operation < sizeof operations ? operations[m->operation] : 0,
		.memory = PTAP_MEMORY_DEVICE,
	};
	return true;
}

/* --- contexts and streams ------------------------------------------------------------------ */

static bool read_context(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct context_record *c = record;

	(void)to;
	contexts_note(r->contexts, c->context, c->device);
	return false;
}

static bool read_stream(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct stream_record *s = record;
	uint32_t device = contexts_find(r->contexts, s->context);

	/* The device becomes known by the stream's activities. */
	if (device == CONTEXTS_UNKNOWN || device > UINT16_MAX || device >= r->n_devices)
		return false;
	to->device = (uint16_t)device;
	to->context = s->context;
	to->stream = s->stream;
	to->of.stream = (struct ptap_device_stream){.priority = s->priority, .flags = s->flags};
	return true;
}

/* --- waits and overhead -------------------------------------------------------------------- */

static bool read_wait(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct wait_record *w = record;
	uint32_t device = contexts_find(r->contexts, w->context);

	/* The context is unknown; most programs have one device. */
	if (device == CONTEXTS_UNKNOWN)
		device = 0;
	if (!wants_record(r, PTAP_DEVICE_SYNC, w->start_ns, w->end_ns, device))
		return false;
	to->device = (uint16_t)device;
	to->context = w->context;
	to->stream = convert_stream(w->stream);
	to->correlation = w->correlation;
	to->start_ns = w->start_ns;
	to->end_ns = w->end_ns;
	to->of.sync = (struct ptap_device_waited){.type = w->type, .event = w->event};
	return true;
}

static const char *get_overhead_name(uint32_t overhead)
{
	static const char *const of_cupti[] = {
		"Overhead",
		"Activity Buffer Flush",
		"Instrumentation",
		"Resource",
		"Runtime Triggered Module Loading",
		"Lazy Function Loading",
		"Command Buffer Full",
		"Activity Buffer Request",
		"UVM Activity Init",
	};
	uint32_t number = overhead >> 16;

	if (overhead == 1)
		return "Driver Compiler";
	return of_cupti[number < sizeof of_cupti / sizeof of_cupti[0] ? number : 0];
}

static bool read_overhead(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct overhead_record *o = record;
	bool is_of_device = o->object_kind >= OBJECT_DEVICE && o->object_kind <= OBJECT_STREAM;
	uint32_t device = is_of_device ? o->object[0] : 0;

	if (!wants_record(r, PTAP_DEVICE_OVERHEAD, o->start_ns, o->end_ns, device))
		return false;
	to->name = cuda_names_find(&r->names, PTAP_DEVICE_OVERHEAD, get_overhead_name(o->overhead));
	to->device = (uint16_t)device;
	to->context = o->object_kind >= OBJECT_CONTEXT && is_of_device ? o->object[1] : 0;
	to->stream = o->object_kind == OBJECT_STREAM ? convert_stream(o->object[2]) : UINT64_MAX;
	to->start_ns = o->start_ns;
	to->end_ns = o->end_ns;
	return true;
}

/* --- reading ------------------------------------------------------------------------------- */

/* A reader fills |to|, which is empty but for size and kind, from a record. False: the record is not handed on. */
typedef bool record_reader(struct records *r, const void *record, struct ptap_device_record *to);

static const struct {
	record_reader *read;
	enum ptap_device_kind kind;
} readers[CUPTI_KINDS] = {
	[CUPTI_MEMCPY] = {read_copy, PTAP_DEVICE_COPY},
	[CUPTI_MEMSET] = {read_set, PTAP_DEVICE_SET},
	[CUPTI_KERNEL] = {read_kernel, PTAP_DEVICE_KERNEL},
	[CUPTI_CONTEXT] = {read_context, 0},
	[CUPTI_CONCURRENT_KERNEL] = {read_kernel, PTAP_DEVICE_KERNEL},
	[CUPTI_OVERHEAD] = {read_overhead, PTAP_DEVICE_OVERHEAD},
	[CUPTI_MEMCPY2] = {read_peer_copy, PTAP_DEVICE_COPY},
	[CUPTI_STREAM] = {read_stream, PTAP_DEVICE_STREAM},
	[CUPTI_SYNCHRONIZATION] = {read_wait, PTAP_DEVICE_SYNC},
	[CUPTI_MEMORY2] = {read_memory, PTAP_DEVICE_MEMORY},
	[CUPTI_MEMORY_POOL] = {read_memory_pool, PTAP_DEVICE_MEMORY},
	[CUPTI_GRAPH_TRACE] = {read_graph, PTAP_DEVICE_GRAPH},
};

int records_emit(struct records *r, const struct ptap_device_record *record)
{
	r->n_emitted++;
	return r->services->emit(record);
}

static int read_record(struct records *r, const void *record)
{
	uint32_t kind = *(const uint32_t *)record;
	struct ptap_device_record to = {.size = sizeof to};

	if (kind >= CUPTI_KINDS || !readers[kind].read)
		return 0;
	to.kind = (uint8_t)readers[kind].kind;
	if (!readers[kind].read(r, record, &to))
		return 0;
	return records_emit(r, &to);
}

int records_read(struct records *r, uint8_t *buffer, size_t n_bytes)
{
	void *record = NULL;
	int result;
	int code = 0;

	while (!code && (result = r->cupti->next_record(buffer, n_bytes, &record)) == CUPTI_OK)
		code = read_record(r, record);
	/* The begin of the next record is unknown now. */
	if (!code && result != CUPTI_MAX_LIMIT_REACHED)
		losses_add(&r->losses, PTAP_DEVICE_LOSS_INVALID, 0, 1);
	return code;
}

/* --- losses -------------------------------------------------------------------------------- */

uint64_t losses_sum(const struct cuda_losses *l)
{
	uint64_t sum = 0;

	for (int reason = 0; reason < LOSSES_REASONS; reason++)
		for (int kind = 0; kind < PTAP_DEVICE_KINDS; kind++)
			sum += l->n[reason][kind];
	return sum;
}

static int emit_loss(const struct ptap_collector_services *services, uint64_t at_ns, int reason,
	int kind, uint64_t n)
{
	struct ptap_device_record record = {
		.size = sizeof record,
		.kind = PTAP_DEVICE_LOSS,
		.start_ns = at_ns,
		.end_ns = at_ns,
		.of.loss = {.n = n, .reason = (uint32_t)reason, .kind = (uint32_t)kind},
	};

	return services->emit(&record);
}

int losses_emit(
	struct cuda_losses *l, const struct ptap_collector_services *services, uint64_t at_ns)
{
	int r = 0;

	for (int reason = 0; reason < LOSSES_REASONS; reason++)
		for (int kind = 0; kind < PTAP_DEVICE_KINDS && !r; kind++)
			if (l->n[reason][kind])
				r = emit_loss(services, at_ns, reason, kind, l->n[reason][kind]);
	memset(l, 0, sizeof *l);
	return r;
}
