/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's records, read and handed on; see records.h. */
#include "lib/plugins/cuda/records.h"

#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/launches.h"
#include "lib/plugins/cuda/record_layout.h"

static const struct {
	record_reader read;
	enum ptap_device_kind kind;
} readers[CUPTI_KINDS] = {
	[CUPTI_MEMCPY] = {record_read_copy, PTAP_DEVICE_COPY},
	[CUPTI_MEMSET] = {record_read_set, PTAP_DEVICE_SET},
	[CUPTI_KERNEL] = {record_read_kernel, PTAP_DEVICE_KERNEL},
	[CUPTI_CONTEXT] = {record_read_context, 0},
	[CUPTI_CONCURRENT_KERNEL] = {record_read_kernel, PTAP_DEVICE_KERNEL},
	[CUPTI_OVERHEAD] = {record_read_overhead, PTAP_DEVICE_OVERHEAD},
	[CUPTI_MEMCPY2] = {record_read_peer_copy, PTAP_DEVICE_COPY},
	[CUPTI_STREAM] = {record_read_stream, PTAP_DEVICE_STREAM},
	[CUPTI_SYNCHRONIZATION] = {record_read_wait, PTAP_DEVICE_SYNC},
	[CUPTI_MEMORY2] = {record_read_memory, PTAP_DEVICE_MEMORY},
	[CUPTI_MEMORY_POOL] = {record_read_memory_pool, PTAP_DEVICE_MEMORY},
	[CUPTI_GRAPH_TRACE] = {record_read_graph, PTAP_DEVICE_GRAPH},
};

int records_wants(struct records *r, enum ptap_device_kind kind, uint64_t start_ns, uint64_t end_ns,
	uint32_t device)
{
	if (device >= r->n_devices)
		return 0;
	if (!start_ns || !end_ns) {
		losses_add(&r->losses, PTAP_DEVICE_LOSS_INCOMPLETE, kind, 1);
		return 0;
	}
	if (end_ns < start_ns || device > UINT16_MAX) {
		losses_add(&r->losses, PTAP_DEVICE_LOSS_INVALID, kind, 1);
		return 0;
	}
	if (end_ns < r->from_ns || start_ns > r->until_ns)
		return 0;
	if (r->n_wanted >= r->max_wanted) {
		losses_add(&r->losses, PTAP_DEVICE_LOSS_RECORDS, kind, 1);
		return 0;
	}
	r->n_wanted++;
	return 1;
}

uint64_t records_correlate(
	struct records *r, uint32_t correlation, uint32_t graph, uint64_t node, uint64_t start_ns)
{
	struct launched_node launched = {node, start_ns, graph, correlation};

	return graph && r->launches ? launches_find(r->launches, &launched) : correlation;
}

int records_emit(struct records *r, const struct ptap_device_record *record)
{
	r->n_emitted++;
	return r->services->emit(record);
}

static int read_one(struct records *r, const void *record)
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
		code = read_one(r, record);
	/* Where the next one begins nobody knows. */
	if (!code && result != CUPTI_MAX_LIMIT_REACHED)
		losses_add(&r->losses, PTAP_DEVICE_LOSS_INVALID, 0, 1);
	return code;
}
