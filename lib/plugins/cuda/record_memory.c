/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: what a program takes and gives back, and the pools that it takes it from. */
#include "lib/plugins/cuda/record_layout.h"
#include "lib/plugins/cuda/records.h"

int record_read_memory(struct records *r, const void *record, struct ptap_device_record *to)
{
	static const uint8_t operations[] = {0, PTAP_MEMORY_TAKEN, PTAP_MEMORY_GIVEN_BACK};
	const struct memory_record *m = record;

	if (!records_wants(r, PTAP_DEVICE_MEMORY, m->ns, m->ns, m->device))
		return 0;
	to->device = (uint16_t)m->device;
	to->context = m->context;
	to->stream = record_stream(m->stream);
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
	return 1;
}

int record_read_memory_pool(struct records *r, const void *record, struct ptap_device_record *to)
{
	static const uint8_t operations[] = {
		0, PTAP_MEMORY_POOL_MADE, PTAP_MEMORY_POOL_GONE, PTAP_MEMORY_POOL_TRIMMED};
	const struct memory_pool_record *m = record;

	if (!records_wants(r, PTAP_DEVICE_MEMORY, m->ns, m->ns, m->device))
		return 0;
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
	return 1;
}
