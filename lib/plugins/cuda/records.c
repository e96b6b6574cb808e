/* SPDX-License-Identifier: Apache-2.0 */
/* Reads CUPTI's records and emits them as device records of proftap; see records.h. */
#include "lib/plugins/cuda/records.h"

#include <stdbool.h>
#include <string.h>

#include "lib/plugins/cuda/contexts.h"
#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/launches.h"
#include "lib/plugins/cuda/record_layout.h"

/*
 * Returns true if a record with these times on |device| must be emitted. Counts the record as lost
 * if one of its times is unknown, if it is invalid, or if |max_wanted| is reached.
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

/*
 * Returns the correlation of a record. For the activity of a graph it is that of the graph's launch
 * (launches.h); for other work it is |correlation| itself.
 */
static uint64_t correlate_record(
	struct records *r, uint32_t correlation, uint32_t graph, uint64_t node, uint64_t start_ns)
{
	struct launched_node launched = {node, start_ns, graph, correlation};

	return graph && r->launches ? launches_find(r->launches, &launched) : correlation;
}

/* Converts a stream's number; CUPTI's "no stream" becomes UINT64_MAX. */
static uint64_t convert_stream(uint32_t stream)
{
	return stream == RECORD_NO_STREAM ? UINT64_MAX : stream;
}

/* --- copies, and memory that was filled ---------------------------------------------------- */

/* Arrays (A) lie in the memory of the device, so they count as device memory (D). */
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

static void fill_copy(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct copy_record *c = record;

	(void)r;
	to->of.copy = (struct ptap_device_copied){
		.bytes = c->bytes,
		.graph_node = c->graph_node,
		.graph = c->graph,
		.direction = get_direction(c->direction),
		.from = get_memory(c->from),
		.to = get_memory(c->to),
		.is_async = (c->flags & RECORD_IS_ASYNC) != 0,
	};
}

static void fill_peer_copy(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct peer_copy_record *c = record;

	(void)r;
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
}

static void fill_set(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct set_record *s = record;

	(void)r;
	to->of.set = (struct ptap_device_filled){
		.bytes = s->bytes,
		.graph_node = s->graph_node,
		.graph = s->graph,
		.value = s->value,
		.memory = get_memory(s->memory),
		.is_async = (s->flags & RECORD_IS_ASYNC) != 0,
	};
}

/* --- kernels and graphs -------------------------------------------------------------------- */

static void fill_kernel(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct kernel_record *k = record;

	to->name = k->name ? cuda_names_find(&r->names, PTAP_DEVICE_KERNEL, k->name) : 0;
	to->of.kernel = (struct ptap_device_kernel){
		.grid = {k->grid[0], k->grid[1], k->grid[2]},
		.block = {(uint16_t)k->block[0], (uint16_t)k->block[1], (uint16_t)k->block[2]},
		.registers = k->registers,
		.static_shared = k->static_shared,
		.dynamic_shared = k->dynamic_shared,
		.graph = k->graph,
		.graph_node = k->graph_node,
	};
}

static void fill_graph(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct graph_record *g = record;

	(void)r;
	to->of.graph.graph = g->graph;
}

/* --- device memory ------------------------------------------------------------------------- */

static void fill_memory(struct records *r, const void *record, struct ptap_device_record *to)
{
	static const uint8_t operations[] = {0, PTAP_MEMORY_TAKEN, PTAP_MEMORY_GIVEN_BACK};
	const struct memory_record *m = record;

	(void)r;
	to->of.memory = (struct ptap_device_memory_change){
		.address = m->address,
		.bytes = m->bytes,
		.op = m->operation < sizeof operations ? operations[m->operation] : 0,
		.memory = get_memory(m->memory),
	};
}

static void fill_memory_pool(struct records *r, const void *record, struct ptap_device_record *to)
{
	static const uint8_t operations[] = {
		0, PTAP_MEMORY_POOL_MADE, PTAP_MEMORY_POOL_GONE, PTAP_MEMORY_POOL_TRIMMED};
	const struct memory_pool_record *m = record;

	(void)r;
	to->of.memory = (struct ptap_device_memory_change){
		.address = m->address,
		.bytes = m->operation == 3 ? m->kept_bytes : m->bytes,
		.op = m->operation < sizeof operations ? operations[m->operation] : 0,
		.memory = PTAP_MEMORY_DEVICE,
	};
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

	/*
	 * The record is dropped, because the context's device is unknown or not recorded. The
	 * stream's activities have a device field of their own.
	 */
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

	/*
	 * The context's device is unknown. Assume the first one, since most programs have one
	 * device.
	 */
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

/*
 * Reads a record that has no fixed field for its device. Returns false if the record is not
 * emitted.
 */
typedef bool record_reader(struct records *r, const void *record, struct ptap_device_record *to);
/* Fills the part of |to| that only this kind has. */
typedef void record_filler(struct records *r, const void *record, struct ptap_device_record *to);

/*
 * The conversion of one kind of CUPTI's records. A row has either a reader, or a filler and the
 * offsets of the common fields.
 */
struct record_row {
	enum ptap_device_kind kind;
	record_reader *read;
	record_filler *fill;
	/*
	 * Offsets of the common fields in the record. 0 means that the record has no such field,
	 * since the field at offset 0 is the record's kind.
	 */
	uint8_t start;
	uint8_t end;
	uint8_t device;
	uint8_t context;
	uint8_t stream;
	uint8_t correlation;
	uint8_t graph;
	uint8_t graph_node;
};

#define AT(type, member) offsetof(struct type, member)
/* The fields that all work of a stream has. */
#define WORK_AT(type)                                                                     \
	.start = AT(type, start_ns), .end = AT(type, end_ns), .device = AT(type, device), \
	.context = AT(type, context), .stream = AT(type, stream),                         \
	.correlation = AT(type, correlation), .graph = AT(type, graph)

static const struct record_row rows[CUPTI_KINDS] = {
	[CUPTI_MEMCPY] = {PTAP_DEVICE_COPY, .fill = fill_copy, WORK_AT(copy_record),
		.graph_node = AT(copy_record, graph_node)},
	[CUPTI_MEMSET] = {PTAP_DEVICE_SET, .fill = fill_set, WORK_AT(set_record),
		.graph_node = AT(set_record, graph_node)},
	[CUPTI_KERNEL] = {PTAP_DEVICE_KERNEL, .fill = fill_kernel, WORK_AT(kernel_record),
		.graph_node = AT(kernel_record, graph_node)},
	[CUPTI_CONTEXT] = {0, .read = read_context},
	[CUPTI_CONCURRENT_KERNEL] = {PTAP_DEVICE_KERNEL, .fill = fill_kernel,
		WORK_AT(kernel_record), .graph_node = AT(kernel_record, graph_node)},
	[CUPTI_OVERHEAD] = {PTAP_DEVICE_OVERHEAD, .read = read_overhead},
	[CUPTI_MEMCPY2] = {PTAP_DEVICE_COPY, .fill = fill_peer_copy, WORK_AT(peer_copy_record),
		.graph_node = AT(peer_copy_record, graph_node)},
	[CUPTI_STREAM] = {PTAP_DEVICE_STREAM, .read = read_stream},
	[CUPTI_SYNCHRONIZATION] = {PTAP_DEVICE_SYNC, .read = read_wait},
	[CUPTI_MEMORY2] = {PTAP_DEVICE_MEMORY, .fill = fill_memory, .start = AT(memory_record, ns),
		.end = AT(memory_record, ns), .device = AT(memory_record, device),
		.context = AT(memory_record, context), .stream = AT(memory_record, stream),
		.correlation = AT(memory_record, correlation)},
	[CUPTI_MEMORY_POOL] = {PTAP_DEVICE_MEMORY, .fill = fill_memory_pool,
		.start = AT(memory_pool_record, ns), .end = AT(memory_pool_record, ns),
		.device = AT(memory_pool_record, device),
		.correlation = AT(memory_pool_record, correlation)},
	[CUPTI_GRAPH_TRACE] = {PTAP_DEVICE_GRAPH, .fill = fill_graph, WORK_AT(graph_record)},
};

static uint32_t get_u32(const void *record, uint8_t at)
{
	uint32_t value;

	memcpy(&value, (const uint8_t *)record + at, sizeof value);
	return value;
}

static uint64_t get_u64(const void *record, uint8_t at)
{
	uint64_t value;

	memcpy(&value, (const uint8_t *)record + at, sizeof value);
	return value;
}

/* Reads the common fields. Returns false if the record is not emitted. */
static bool read_common(struct records *r, const struct record_row *row, const void *record,
	struct ptap_device_record *to)
{
	uint32_t device = get_u32(record, row->device);
	uint32_t graph = row->graph ? get_u32(record, row->graph) : 0;
	uint64_t node = row->graph_node ? get_u64(record, row->graph_node) : 0;

	to->start_ns = get_u64(record, row->start);
	to->end_ns = get_u64(record, row->end);
	if (!wants_record(r, row->kind, to->start_ns, to->end_ns, device))
		return false;
	to->device = (uint16_t)device;
	to->context = row->context ? get_u32(record, row->context) : 0;
	to->stream = row->stream ? convert_stream(get_u32(record, row->stream)) : UINT64_MAX;
	to->correlation =
		correlate_record(r, get_u32(record, row->correlation), graph, node, to->start_ns);
	return true;
}

int records_emit(struct records *r, const struct ptap_device_record *record)
{
	r->n_emitted++;
	return r->services->emit(record);
}

static bool fill_record(struct records *r, const struct record_row *row, const void *record,
	struct ptap_device_record *to)
{
	if (row->read)
		return row->read(r, record, to);
	if (!row->fill || !read_common(r, row, record, to))
		return false;
	row->fill(r, record, to);
	return true;
}

static int read_record(struct records *r, const void *record)
{
	uint32_t kind = *(const uint32_t *)record;
	struct ptap_device_record to = {.size = sizeof to};

	if (kind >= CUPTI_KINDS)
		return 0;
	to.kind = (uint8_t)rows[kind].kind;
	return fill_record(r, &rows[kind], record, &to) ? records_emit(r, &to) : 0;
}

int records_read(struct records *r, uint8_t *buffer, size_t n_bytes)
{
	void *record = NULL;
	int result;
	int code = 0;

	while (!code && (result = r->cupti->next_record(buffer, n_bytes, &record)) == CUPTI_OK)
		code = read_record(r, record);
	/*
	 * The position of the next record is unknown, so the rest of the buffer is lost and counts
	 * as one record.
	 */
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
