/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of the host for a device, and what recording itself costs. */
#include "lib/plugins/cuda/contexts.h"
#include "lib/plugins/cuda/record_layout.h"
#include "lib/plugins/cuda/records.h"

int record_read_wait(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct wait_record *w = record;
	uint32_t device = contexts_find(r->contexts, w->context);

	/* Of a context that nobody has told of; most programs have one device. */
	if (device == CONTEXTS_UNKNOWN)
		device = 0;
	if (!records_wants(r, PTAP_DEVICE_SYNC, w->start_ns, w->end_ns, device))
		return 0;
	to->device = (uint16_t)device;
	to->context = w->context;
	to->stream = record_stream(w->stream);
	to->correlation = w->correlation;
	to->start_ns = w->start_ns;
	to->end_ns = w->end_ns;
	to->of.sync = (struct ptap_device_waited){.type = w->type, .event = w->event};
	return 1;
}

static const char *overhead_name(uint32_t overhead)
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

int record_read_overhead(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct overhead_record *o = record;
	int is_of_device = o->object_kind >= OBJECT_DEVICE && o->object_kind <= OBJECT_STREAM;
	uint32_t device = is_of_device ? o->object[0] : 0;

	if (!records_wants(r, PTAP_DEVICE_OVERHEAD, o->start_ns, o->end_ns, device))
		return 0;
	to->name = names_find(&r->names, PTAP_DEVICE_OVERHEAD, overhead_name(o->overhead));
	to->device = (uint16_t)device;
	to->context = o->object_kind >= OBJECT_CONTEXT && is_of_device ? o->object[1] : 0;
	to->stream = o->object_kind == OBJECT_STREAM ? record_stream(o->object[2]) : UINT64_MAX;
	to->start_ns = o->start_ns;
	to->end_ns = o->end_ns;
	return 1;
}
