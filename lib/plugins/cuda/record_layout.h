/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's records, up to the last field that is read. Each version of CUPTI writes longer ones with
 * the same beginning, from CUDA 11.8 to 13.5; only CUPTI itself knows where the next one begins.
 * tests/compile/nvidia compares this with NVIDIA's headers.
 */
#ifndef PLUGINS_CUDA_RECORD_LAYOUT_H
#define PLUGINS_CUDA_RECORD_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* Times are ns in CUPTI's clock; 0: unknown. */
struct kernel_record {
	uint32_t kind; /* enum cupti_kind, as in all records */
	uint8_t cache_config;
	uint8_t shared_config;
	uint16_t registers;
	uint32_t partitioned_cache[2];
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t completed_ns;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t static_shared;
	uint32_t dynamic_shared;
	uint32_t local_per_thread;
	uint32_t local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued_ns;
	uint64_t submitted_ns;
	uint8_t launch_type;
	uint8_t is_shared_executed;
	uint8_t padding[2];
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t shared_limit;
	uint32_t graph;
};

enum copy_direction {
	COPY_H2D = 1,
	COPY_D2H = 2,
	COPY_H2A = 3, /* A: an array on the device */
	COPY_A2H = 4,
	COPY_A2A = 5,
	COPY_A2D = 6,
	COPY_D2A = 7,
	COPY_D2D = 8,
	COPY_H2H = 9,
	COPY_P2P = 10,
};

#define RECORD_IS_ASYNC 1u

struct copy_record {
	uint32_t kind;
	uint8_t direction;
	uint8_t from; /* memory, with the values of enum ptap_device_memory */
	uint8_t to;
	uint8_t flags;
	uint64_t bytes;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t correlation;
	uint32_t runtime_correlation;
	uint32_t padding;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

struct peer_copy_record {
	uint32_t kind;
	uint8_t direction;
	uint8_t from;
	uint8_t to;
	uint8_t flags;
	uint64_t bytes;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t from_device;
	uint32_t from_context;
	uint32_t to_device;
	uint32_t to_context;
	uint32_t correlation;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

struct set_record {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t correlation;
	uint16_t flags;
	uint16_t memory;
	uint32_t padding;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

enum object_kind {
	OBJECT_THREAD = 2,
	OBJECT_DEVICE = 3,
	OBJECT_CONTEXT = 4,
	OBJECT_STREAM = 5,
};

struct overhead_record {
	uint32_t kind;
	uint32_t overhead;
	uint32_t object_kind;
	uint32_t object[3]; /* process, thread; or device, context, stream */
	uint64_t start_ns;
	uint64_t end_ns;
};

/* A stream's number in records about a whole context. */
#define RECORD_NO_STREAM UINT32_MAX

struct wait_record {
	uint32_t kind;
	uint32_t type;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t correlation;
	uint32_t context;
	uint32_t stream; /* or RECORD_NO_STREAM */
	uint32_t event;
};

struct memory_record {
	uint32_t kind;
	uint32_t operation; /* 1 allocated, 2 freed */
	uint32_t memory;
	uint32_t correlation;
	uint64_t address;
	uint64_t bytes;
	uint64_t ns;
	uint64_t program_counter;
	uint32_t process;
	uint32_t device;
	uint32_t context;
	uint32_t stream; /* or RECORD_NO_STREAM */
};

struct memory_pool_record {
	uint32_t kind;
	uint32_t operation; /* 1 created, 2 destroyed, 3 trimmed */
	uint32_t type;
	uint32_t correlation;
	uint32_t process;
	uint32_t device;
	uint64_t kept_bytes;
	uint64_t address;
	uint64_t bytes;
	uint64_t release_threshold;
	uint64_t ns;
};

struct graph_record {
	uint32_t kind;
	uint32_t correlation;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t device;
	uint32_t graph;
	uint32_t context;
	uint32_t stream;
};

struct context_record {
	uint32_t kind;
	uint32_t context;
	uint32_t device;
};

struct stream_record {
	uint32_t kind;
	uint32_t context;
	uint32_t stream;
	int32_t priority;
	uint32_t flags;
	uint32_t correlation;
};

_Static_assert(offsetof(struct kernel_record, start_ns) == 16 &&
		       offsetof(struct kernel_record, device) == 40 &&
		       offsetof(struct kernel_record, correlation) == 92 &&
		       offsetof(struct kernel_record, name) == 104 &&
		       offsetof(struct kernel_record, graph_node) == 144 &&
		       offsetof(struct kernel_record, graph) == 156,
	"a kernel");
_Static_assert(offsetof(struct copy_record, correlation) == 44 &&
		       offsetof(struct copy_record, graph_node) == 64 &&
		       offsetof(struct copy_record, graph) == 72,
	"a copy");
_Static_assert(offsetof(struct peer_copy_record, correlation) == 60 &&
		       offsetof(struct peer_copy_record, graph_node) == 72 &&
		       offsetof(struct peer_copy_record, graph) == 80,
	"a copy between devices");
_Static_assert(offsetof(struct set_record, flags) == 48 && offsetof(struct set_record, graph) == 72,
	"memory that was filled");
_Static_assert(offsetof(struct overhead_record, start_ns) == 24, "overhead");
_Static_assert(offsetof(struct wait_record, stream) == 32, "a wait");
_Static_assert(offsetof(struct memory_record, stream) == 60, "memory that was taken");
_Static_assert(offsetof(struct memory_pool_record, ns) == 56, "a pool");
_Static_assert(offsetof(struct graph_record, stream) == 36, "a graph");

#endif
