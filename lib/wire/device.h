/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A collector's records in a ring. The public header has the same structs (<proftap/collector.h>;
 * lib/collect/ asserts it) and explains the fields.
 *
 *   RECORD_DEVICE   record slot: the time of writing, no duration, the name's id (STRING_ID_LOST: none);
 *                   then a struct device_entry, cut after the bytes of its kind (device_entry_bytes())
 *                   and filled up to whole slots
 *   RECORD_LAUNCH   a span of the thread that called the device's library: record slot, then two slots:
 *                   SLOT_U64 with the correlation, SLOT_U64 with launch_where(); for a graph's launch a
 *                   third, SLOT_U64 with its number
 *   RECORD_NODE     a point: SLOT_U64 with a graph's node, SLOT_U64 with the node that it was made from,
 *                   or 0
 */
#ifndef WIRE_DEVICE_H
#define WIRE_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/wire/record.h"

enum device_kind {
	DEVICE_KERNEL = 1,
	DEVICE_COPY = 2,
	DEVICE_SET = 3,
	DEVICE_SYNC = 4,
	DEVICE_OVERHEAD = 5,
	DEVICE_MEMORY = 6,
	DEVICE_GRAPH = 7,
	DEVICE_COUNTER = 8,
	DEVICE_INFO = 9,
	DEVICE_STREAM = 10,
	DEVICE_ANCHOR = 11,
	DEVICE_LOSS = 12,
	/*
	 * A piece of an XSpace: |correlation| bytes, at most DEVICE_MAX_BLOB, in the place of
	 * |start_ns| and the fields behind it.
	 */
	DEVICE_XSPACE = 13,
	DEVICE_KINDS
};

enum device_loss {
	DEVICE_LOSS_DROPPED = 1,
	DEVICE_LOSS_INCOMPLETE = 2,
	DEVICE_LOSS_CALLS = 3,
	DEVICE_LOSS_RECORDS = 4,
	DEVICE_LOSS_INVALID = 5,
	DEVICE_LOSS_ANNOTATIONS = 6,
	DEVICE_LOSS_NAMES = 7,
	DEVICE_LOSSES
};

/* The values of the public header that the server uses. */
enum device_direction {
	DEVICE_DIRECTION_P2P = 4,
};

enum device_memory {
	DEVICE_IN_PAGEABLE = 1,
	DEVICE_IN_PINNED = 2,
};

enum device_memory_op {
	DEVICE_MEMORY_TAKEN = 1,
	DEVICE_MEMORY_GIVEN_BACK = 2,
};

struct device_kernel {
	uint32_t grid[3];
	uint16_t block[3];
	uint16_t registers;
	uint32_t static_shared;
	uint32_t dynamic_shared;
	uint32_t graph;
	uint64_t graph_node;
};

struct device_copied {
	uint64_t bytes;
	uint64_t graph_node;
	uint32_t graph;
	uint16_t from_device;
	uint16_t to_device;
	uint8_t direction;
	uint8_t from;
	uint8_t to;
	uint8_t is_async;
	uint32_t reserved;
};

struct device_filled {
	uint64_t bytes;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t value;
	uint8_t memory;
	uint8_t is_async;
	uint16_t reserved[3];
};

struct device_waited {
	uint32_t type;
	uint32_t event;
};

struct device_memory_change {
	uint64_t address;
	uint64_t bytes;
	uint8_t op;
	uint8_t memory;
	uint16_t reserved[3];
};

struct device_graph {
	uint32_t graph;
	uint32_t reserved;
};

struct device_info {
	uint64_t memory_bytes;
	uint64_t memory_bandwidth;
	uint32_t core_count;
	uint32_t clock_khz;
	uint16_t compute_major;
	uint16_t compute_minor;
	uint32_t warp_threads;
	uint32_t max_threads_per_block;
	uint32_t max_threads_per_core;
	uint32_t max_blocks_per_core;
	uint32_t registers_per_block;
	uint32_t registers_per_core;
	uint32_t shared_per_block;
	uint32_t shared_per_block_optin;
	uint32_t shared_per_core;
	uint32_t reserved_shared_per_block;
	uint32_t driver_version;
	uint32_t library_version;
	uint8_t uuid[16];
	uint32_t vendor;
};

struct device_stream {
	int32_t priority;
	uint32_t flags;
};

struct device_lost {
	uint64_t n;
	uint32_t reason; /* enum device_loss */
	uint32_t kind; /* enum device_kind; 0: any */
};

struct device_entry {
	uint8_t kind; /* enum device_kind */
	/* The index of the collector, from 0: its clock and its devices' ordinals are its own. */
	uint8_t collector;
	uint16_t device;
	uint32_t context;
	uint64_t stream;
	uint64_t correlation;
	uint64_t start_ns;
	uint64_t end_ns;
	union {
		struct device_kernel kernel;
		struct device_copied copy;
		struct device_filled set;
		struct device_waited sync;
		struct device_memory_change memory;
		struct device_graph graph;
		double counter;
		struct device_info info;
		struct device_stream stream;
		struct device_lost loss;
	} of;
};

#define DEVICE_HEAD_BYTES ((uint32_t)offsetof(struct device_entry, of))
/* bytes, from |start_ns| on, in RECORD_MAX_EXTRA slots */
#define DEVICE_MAX_BLOB \
	(RECORD_MAX_EXTRA * SLOT_BYTES - (uint32_t)offsetof(struct device_entry, start_ns))

_Static_assert(offsetof(struct device_entry, of) == 40, "a kernel is five slots");
_Static_assert(sizeof(struct device_kernel) == 40, "a kernel is five slots");
_Static_assert(
	sizeof(struct device_entry) <= RECORD_MAX_EXTRA * SLOT_BYTES, "all fit into one entry");

/* The number of bytes of a struct device_entry of |kind|; 0: unknown kind, or DEVICE_XSPACE. */
static inline uint32_t device_entry_bytes(unsigned kind)
{
	static const uint8_t payload[DEVICE_KINDS] = {
		[DEVICE_KERNEL] = sizeof(struct device_kernel),
		[DEVICE_COPY] = sizeof(struct device_copied),
		[DEVICE_SET] = sizeof(struct device_filled),
		[DEVICE_SYNC] = sizeof(struct device_waited),
		[DEVICE_MEMORY] = sizeof(struct device_memory_change),
		[DEVICE_GRAPH] = sizeof(struct device_graph),
		[DEVICE_COUNTER] = sizeof(double),
		[DEVICE_INFO] = sizeof(struct device_info),
		[DEVICE_STREAM] = sizeof(struct device_stream),
		[DEVICE_LOSS] = sizeof(struct device_lost),
	};

	return kind && kind < DEVICE_XSPACE ? DEVICE_HEAD_BYTES + payload[kind] : 0;
}

/* Flags of a launch, in its launch_where(). */
enum launch_flags {
	LAUNCH_IS_GRAPH = 1, /* a third slot has the graph's number */
};

static inline uint64_t launch_where(uint16_t device, uint32_t context, unsigned flags)
{
	return (uint64_t)context << 32 | (uint64_t)(flags & 0xffffu) << 16 | device;
}

static inline uint16_t launch_device(uint64_t where)
{
	return (uint16_t)where;
}

static inline unsigned launch_flags(uint64_t where)
{
	return (unsigned)(where >> 16) & 0xffffu;
}

static inline uint32_t launch_context(uint64_t where)
{
	return (uint32_t)(where >> 32);
}

#endif
