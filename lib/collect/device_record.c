/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of collectors; see device_record.h. These assertions ensure that a copy of the bytes is
 * enough.
 */
#include "lib/collect/device_record.h"

#include <string.h>

#define SAME(ours, theirs, text) _Static_assert((int)(ours) == (int)(theirs), text)
#define SAME_PLACE(ours, theirs, field)                                                \
	_Static_assert(offsetof(struct ours, field) == offsetof(struct theirs, field), \
		"both headers have the field at the same offset")
#define SAME_SIZE(ours, theirs)                                      \
	_Static_assert(sizeof(struct ours) == sizeof(struct theirs), \
		"both headers give the struct the same size")

SAME_SIZE(device_kernel, ptap_device_kernel);
SAME_PLACE(device_kernel, ptap_device_kernel, grid);
SAME_PLACE(device_kernel, ptap_device_kernel, block);
SAME_PLACE(device_kernel, ptap_device_kernel, registers);
SAME_PLACE(device_kernel, ptap_device_kernel, static_shared);
SAME_PLACE(device_kernel, ptap_device_kernel, dynamic_shared);
SAME_PLACE(device_kernel, ptap_device_kernel, graph);
SAME_PLACE(device_kernel, ptap_device_kernel, graph_node);

SAME_SIZE(device_copied, ptap_device_copied);
SAME_PLACE(device_copied, ptap_device_copied, bytes);
SAME_PLACE(device_copied, ptap_device_copied, graph_node);
SAME_PLACE(device_copied, ptap_device_copied, graph);
SAME_PLACE(device_copied, ptap_device_copied, from_device);
SAME_PLACE(device_copied, ptap_device_copied, to_device);
SAME_PLACE(device_copied, ptap_device_copied, direction);
SAME_PLACE(device_copied, ptap_device_copied, from);
SAME_PLACE(device_copied, ptap_device_copied, to);
SAME_PLACE(device_copied, ptap_device_copied, is_async);

SAME_SIZE(device_filled, ptap_device_filled);
SAME_PLACE(device_filled, ptap_device_filled, bytes);
SAME_PLACE(device_filled, ptap_device_filled, graph_node);
SAME_PLACE(device_filled, ptap_device_filled, graph);
SAME_PLACE(device_filled, ptap_device_filled, value);
SAME_PLACE(device_filled, ptap_device_filled, memory);
SAME_PLACE(device_filled, ptap_device_filled, is_async);

SAME_SIZE(device_waited, ptap_device_waited);
SAME_PLACE(device_waited, ptap_device_waited, type);
SAME_PLACE(device_waited, ptap_device_waited, event);

SAME_SIZE(device_memory_change, ptap_device_memory_change);
SAME_PLACE(device_memory_change, ptap_device_memory_change, address);
SAME_PLACE(device_memory_change, ptap_device_memory_change, bytes);
SAME_PLACE(device_memory_change, ptap_device_memory_change, op);
SAME_PLACE(device_memory_change, ptap_device_memory_change, memory);

SAME_SIZE(device_graph, ptap_device_graph);
SAME_PLACE(device_graph, ptap_device_graph, graph);

SAME_SIZE(device_info, ptap_device_info);
SAME_PLACE(device_info, ptap_device_info, memory_bytes);
SAME_PLACE(device_info, ptap_device_info, memory_bandwidth);
SAME_PLACE(device_info, ptap_device_info, core_count);
SAME_PLACE(device_info, ptap_device_info, clock_khz);
SAME_PLACE(device_info, ptap_device_info, compute_major);
SAME_PLACE(device_info, ptap_device_info, compute_minor);
SAME_PLACE(device_info, ptap_device_info, warp_threads);
SAME_PLACE(device_info, ptap_device_info, max_threads_per_block);
SAME_PLACE(device_info, ptap_device_info, max_threads_per_core);
SAME_PLACE(device_info, ptap_device_info, max_blocks_per_core);
SAME_PLACE(device_info, ptap_device_info, registers_per_block);
SAME_PLACE(device_info, ptap_device_info, registers_per_core);
SAME_PLACE(device_info, ptap_device_info, shared_per_block);
SAME_PLACE(device_info, ptap_device_info, shared_per_block_optin);
SAME_PLACE(device_info, ptap_device_info, shared_per_core);
SAME_PLACE(device_info, ptap_device_info, reserved_shared_per_block);
SAME_PLACE(device_info, ptap_device_info, driver_version);
SAME_PLACE(device_info, ptap_device_info, library_version);
SAME_PLACE(device_info, ptap_device_info, uuid);
SAME_PLACE(device_info, ptap_device_info, vendor);

SAME_SIZE(device_stream, ptap_device_stream);
SAME_PLACE(device_stream, ptap_device_stream, priority);
SAME_PLACE(device_stream, ptap_device_stream, flags);

SAME_SIZE(device_lost, ptap_device_lost);
SAME_PLACE(device_lost, ptap_device_lost, n);
SAME_PLACE(device_lost, ptap_device_lost, reason);
SAME_PLACE(device_lost, ptap_device_lost, kind);

/* The record begins with its size and its name; an entry has those elsewhere. */
#define RECORD_HEAD_BYTES offsetof(struct ptap_device_record, kind)
#define SAME_FIELD(field)                                                          \
	_Static_assert(offsetof(struct device_entry, field) + RECORD_HEAD_BYTES == \
			       offsetof(struct ptap_device_record, field),         \
		"an entry is the rest of the record")

SAME_FIELD(kind);
SAME_FIELD(device);
SAME_FIELD(context);
SAME_FIELD(stream);
SAME_FIELD(correlation);
SAME_FIELD(start_ns);
SAME_FIELD(end_ns);
SAME_FIELD(of);
_Static_assert(sizeof(struct device_entry) + RECORD_HEAD_BYTES == sizeof(struct ptap_device_record),
	"no field follows");

SAME(DEVICE_KERNEL, PTAP_DEVICE_KERNEL, "kinds");
SAME(DEVICE_COPY, PTAP_DEVICE_COPY, "kinds");
SAME(DEVICE_SET, PTAP_DEVICE_SET, "kinds");
SAME(DEVICE_SYNC, PTAP_DEVICE_SYNC, "kinds");
SAME(DEVICE_OVERHEAD, PTAP_DEVICE_OVERHEAD, "kinds");
SAME(DEVICE_MEMORY, PTAP_DEVICE_MEMORY, "kinds");
SAME(DEVICE_GRAPH, PTAP_DEVICE_GRAPH, "kinds");
SAME(DEVICE_COUNTER, PTAP_DEVICE_COUNTER, "kinds");
SAME(DEVICE_INFO, PTAP_DEVICE_INFO, "kinds");
SAME(DEVICE_STREAM, PTAP_DEVICE_STREAM, "kinds");
SAME(DEVICE_ANCHOR, PTAP_DEVICE_ANCHOR, "kinds");
SAME(DEVICE_LOSS, PTAP_DEVICE_LOSS, "kinds");
SAME(DEVICE_XSPACE, PTAP_DEVICE_XSPACE, "kinds");
SAME(DEVICE_KINDS, PTAP_DEVICE_KINDS, "kinds");
SAME(DEVICE_LOSS_DROPPED, PTAP_DEVICE_LOSS_DROPPED, "reasons");
SAME(DEVICE_LOSS_INCOMPLETE, PTAP_DEVICE_LOSS_INCOMPLETE, "reasons");
SAME(DEVICE_LOSS_CALLS, PTAP_DEVICE_LOSS_CALLS, "reasons");
SAME(DEVICE_LOSS_RECORDS, PTAP_DEVICE_LOSS_RECORDS, "reasons");
SAME(DEVICE_LOSS_INVALID, PTAP_DEVICE_LOSS_INVALID, "reasons");
SAME(DEVICE_LOSS_ANNOTATIONS, PTAP_DEVICE_LOSS_ANNOTATIONS, "reasons");
SAME(DEVICE_LOSS_NAMES, PTAP_DEVICE_LOSS_NAMES, "reasons");
SAME(DEVICE_LOSSES, PTAP_DEVICE_LOSS_NAMES + 1, "reasons");
SAME(DEVICE_DIRECTION_P2P, PTAP_COPY_P2P, "directions");
SAME(DEVICE_IN_PAGEABLE, PTAP_MEMORY_PAGEABLE, "memories");
SAME(DEVICE_IN_PINNED, PTAP_MEMORY_PINNED, "memories");
SAME(DEVICE_MEMORY_TAKEN, PTAP_MEMORY_TAKEN, "operations");
SAME(DEVICE_MEMORY_GIVEN_BACK, PTAP_MEMORY_GIVEN_BACK, "operations");
SAME(LAUNCH_IS_GRAPH, PTAP_CALL_IS_GRAPH_LAUNCH, "flags of calls");

/* An old plug-in's payload may be shorter; the rest is zero. */
uint32_t device_record_read(const struct ptap_device_record *record, struct device_entry *entry)
{
	uint32_t n = device_entry_bytes(record->kind);
	uint32_t given = record->size < sizeof *record ? record->size : (uint32_t)sizeof *record;

	if (given < offsetof(struct ptap_device_record, of))
		return 0;
	given -= RECORD_HEAD_BYTES;
	memset(entry, 0, sizeof *entry);
	memcpy(entry, &record->kind, given < n ? given : n);
	return n;
}
