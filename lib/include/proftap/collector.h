/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proftap/collector.h: the interface of a plug-in that brings records of devices (GPUs, other
 * accelerators) into a capture.
 *
 * A collector is a shared object with one function, ptap_collector_get(). libproftap opens it
 * inside the program when a capture wants devices (device_tracer_level 1) and the program uses the
 * collector's device, and never closes it. Except for functions that are marked "any thread",
 * everything runs on one thread of the library's own, |ptap-collect|, with all signals blocked, in
 * this order, once a capture:
 *
 *	probe                       checks whether it can work here; no side effects
 *	open                        reads options; does everything that can fail for a
 *	                            reason that a person can mend
 *	arm                         early work: allocates, registers; nothing is recorded yet
 *	start                       records from here on; emits an anchor
 *	poll, again and again       hands on complete records, so that a crash loses little
 *	flush, between polls        hands on all complete records, even if that is slow, just
 *	                            before a part of a recording is cut off
 *	stop                        records no more; emits an anchor; returns by its deadline
 *	drain                       hands on the rest
 *	stats                       reports the losses and their reasons
 *	close                       frees what open and arm allocated
 *
 * A step that fails ends the collector's part of the capture: stop, drain, stats and close are
 * called if start succeeded, and close alone if open did; drain is also called after a stop that
 * failed. The program's own spans still arrive, and the reason is a warning of the trace. A
 * collector that does not return from a step costs the capture two seconds, and no other capture in
 * this process has devices until it returns.
 *
 * Records go into a ring of the memory that the program shares with its server, as the program's
 * own spans do: emitted records survive the program's crash. The server joins them: a record with
 * the |correlation| of a call (call_begin) belongs to that call, and to the spans around it.
 *
 * Sizes: each struct that crosses the boundary begins with its size, and is only ever appended to.
 */
#ifndef PROFTAP_COLLECTOR_H
#define PROFTAP_COLLECTOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when an older plug-in would no longer work. */
#define PTAP_COLLECTOR_ABI 1u

/* Flags of struct ptap_collector. */
enum ptap_collector_flags {
	PTAP_COLLECTOR_LATE_ATTACH = 1, /* can begin at any time in the program's life */
	PTAP_COLLECTOR_EARLY = 2, /* must be opened before the program uses its device */
	PTAP_COLLECTOR_EXCLUSIVE = 4, /* a process can have only one such collector */
	PTAP_COLLECTOR_PRIVILEGED = 8, /* parts of it need more rights than the program may have */
	PTAP_COLLECTOR_COUNTERS = 16, /* emits PTAP_DEVICE_COUNTER */
	PTAP_COLLECTOR_XSPACE = 32, /* emits PTAP_DEVICE_XSPACE instead of records */
	PTAP_COLLECTOR_FORK_SAFE = 64, /* a forked child may use it */
};

enum ptap_device_kind {
	/* A kernel that a device executed; |name| is the vendor's, mangled or not. */
	PTAP_DEVICE_KERNEL = 1,
	PTAP_DEVICE_COPY = 2,
	PTAP_DEVICE_SET = 3, /* memory was filled */
	PTAP_DEVICE_SYNC = 4, /* the host waited for |stream|; UINT64_MAX: the whole context */
	PTAP_DEVICE_OVERHEAD = 5, /* overhead of the vendor's tracing; |name| is its kind */
	PTAP_DEVICE_MEMORY = 6, /* device memory was allocated or freed at |start_ns| */
	PTAP_DEVICE_GRAPH = 7, /* a graph of kernels and copies, as a whole */
	PTAP_DEVICE_COUNTER = 8, /* a sample of the counter |name| over [start, end] */
	/* Descriptions, in any order. */
	PTAP_DEVICE_INFO = 9, /* describes |device|, with its |name| */
	/* describes |stream|; |name|: the program's name for it, 0: none */
	PTAP_DEVICE_STREAM = 10,
	/*
	 * The collector's clock (|start_ns|) and CLOCK_MONOTONIC (|end_ns|) at one moment; at
	 * start, at stop, and at any other time.
	 */
	PTAP_DEVICE_ANCHOR = 11,
	PTAP_DEVICE_LOSS = 12, /* records that are missing */
	PTAP_DEVICE_XSPACE = 13, /* bytes of a serialised XSpace: emit_xspace() */
	PTAP_DEVICE_KINDS
};

/* Kinds of memory, in CUPTI's order. */
enum ptap_device_memory {
	PTAP_MEMORY_UNKNOWN = 0,
	PTAP_MEMORY_PAGEABLE = 1,
	PTAP_MEMORY_PINNED = 2,
	PTAP_MEMORY_DEVICE = 3,
	PTAP_MEMORY_ARRAY = 4,
	PTAP_MEMORY_MANAGED = 5,
	PTAP_MEMORY_DEVICE_STATIC = 6,
	PTAP_MEMORY_MANAGED_STATIC = 7,
};

enum ptap_device_copy {
	PTAP_COPY_OTHER = 0,
	PTAP_COPY_H2D = 1,
	PTAP_COPY_D2H = 2,
	PTAP_COPY_D2D = 3,
	PTAP_COPY_P2P = 4, /* from one device to another */
	PTAP_COPY_H2H = 5,
};

enum ptap_device_memory_op {
	PTAP_MEMORY_TAKEN = 1,
	PTAP_MEMORY_GIVEN_BACK = 2,
	PTAP_MEMORY_POOL_MADE = 3,
	PTAP_MEMORY_POOL_GONE = 4,
	PTAP_MEMORY_POOL_TRIMMED = 5,
};

enum ptap_device_loss {
	PTAP_DEVICE_LOSS_DROPPED = 1, /* the vendor's library had no buffer for the records */
	PTAP_DEVICE_LOSS_INCOMPLETE = 2, /* the end was unknown when the recording ended */
	PTAP_DEVICE_LOSS_CALLS = 3, /* calls beyond gpu_max_callback_api_events */
	/* records beyond gpu_max_activity_api_events, or without memory */
	PTAP_DEVICE_LOSS_RECORDS = 4,
	PTAP_DEVICE_LOSS_INVALID = 5, /* invalid records */
	PTAP_DEVICE_LOSS_ANNOTATIONS = 6, /* annotations beyond gpu_max_annotation_strings */
	PTAP_DEVICE_LOSS_NAMES = 7, /* intern() had no room: the records exist, but without names */
};

struct ptap_device_kernel {
	uint32_t grid[3];
	uint16_t block[3];
	uint16_t registers; /* per thread */
	uint32_t static_shared; /* bytes per block */
	uint32_t dynamic_shared; /* bytes per block */
	uint32_t graph; /* 0: it was not launched by a graph */
	uint64_t graph_node;
};

struct ptap_device_copied {
	uint64_t bytes;
	uint64_t graph_node;
	uint32_t graph;
	uint16_t from_device; /* only P2P */
	uint16_t to_device;
	uint8_t direction; /* enum ptap_device_copy */
	uint8_t from; /* enum ptap_device_memory */
	uint8_t to;
	uint8_t is_async;
	uint32_t reserved;
};

struct ptap_device_filled {
	uint64_t bytes;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t value;
	uint8_t memory; /* enum ptap_device_memory */
	uint8_t is_async;
	uint16_t reserved[3];
};

struct ptap_device_waited {
	uint32_t type; /* the vendor's number */
	uint32_t event; /* 0: none */
};

struct ptap_device_memory_change {
	uint64_t address;
	uint64_t bytes;
	uint8_t op; /* enum ptap_device_memory_op */
	uint8_t memory; /* enum ptap_device_memory */
	uint16_t reserved[3];
};

struct ptap_device_graph {
	uint32_t graph;
	uint32_t reserved;
};

struct ptap_device_info {
	uint64_t memory_bytes;
	uint64_t memory_bandwidth; /* bytes/s; 0: unknown, as in the fields below */
	uint32_t core_count; /* multiprocessors */
	uint32_t clock_khz;
	uint16_t compute_major;
	uint16_t compute_minor;
	uint32_t warp_threads;
	uint32_t max_threads_per_block;
	uint32_t max_threads_per_core;
	uint32_t max_blocks_per_core;
	uint32_t registers_per_block;
	uint32_t registers_per_core;
	uint32_t shared_per_block; /* bytes */
	uint32_t shared_per_block_optin;
	uint32_t shared_per_core;
	uint32_t reserved_shared_per_block;
	uint32_t driver_version; /* the vendor's number: CUDA 13.0 is 13000 */
	uint32_t library_version; /* the number of the collector's library, CUPTI's for example */
	/* All zero: unknown. It identifies a device across processes. */
	uint8_t uuid[16];
	uint32_t vendor; /* PCI's number: 0x10de is NVIDIA, 0x1002 AMD; 0: unknown */
};

struct ptap_device_stream {
	int32_t priority;
	uint32_t flags; /* the vendor's */
};

struct ptap_device_lost {
	uint64_t n;
	uint32_t reason; /* enum ptap_device_loss */
	uint32_t kind; /* enum ptap_device_kind; 0: any */
};

struct ptap_device_record {
	uint32_t size; /* sizeof(struct ptap_device_record) */
	uint32_t name; /* intern(); 0: none */
	uint8_t kind; /* enum ptap_device_kind */
	uint8_t reserved;
	uint16_t device; /* ordinal in this process, 0 to 255 */
	uint32_t context;
	uint64_t stream; /* the vendor's number */
	uint64_t correlation; /* the call that it belongs to; 0: none */
	uint64_t start_ns; /* in the collector's clock, with any epoch */
	uint64_t end_ns; /* not before the start; equal: an instant */
	union {
		struct ptap_device_kernel kernel;
		struct ptap_device_copied copy;
		struct ptap_device_filled set;
		struct ptap_device_waited sync;
		struct ptap_device_memory_change memory;
		struct ptap_device_graph graph;
		double counter;
		struct ptap_device_info info;
		struct ptap_device_stream stream;
		struct ptap_device_lost loss;
	} of;
};

enum ptap_call_flags {
	PTAP_CALL_IS_GRAPH_LAUNCH = 1, /* the call launches the graph |graph| */
};

/*
 * The functions that libproftap offers to a collector. They are valid in probe, from open to close,
 * and for calls that are still under way.
 */
struct ptap_collector_services {
	size_t size;
	/*
	 * Returns the value of an option of the capture (`proftap capture -o KEY=VALUE`), as
	 * written there, or NULL. Collector's thread.
	 */
	const char *(*get_option)(const char *key);
	/*
	 * Returns the number of |text| in this process's traces, which stays valid for good. Bytes
	 * beyond 1023 are cut. 0: there is no room; a quarter of the 1 MiB for names is kept for
	 * the program's own. The function does not search for an equal text, so the caller keeps
	 * the number. Any thread may call it.
	 */
	uint32_t (*intern)(const char *text);
	/*
	 * Writes one record. Waits while the ring is full and the server reads it. 0; -ECANCELED:
	 * the ring has no reader now, give up; -EINVAL: the kind is unknown, or the record is too
	 * short. The server counts and reports other invalid records (an impossible device or end).
	 * Collector's thread.
	 */
	int (*emit)(const struct ptap_device_record *record);
	/* writes the next |n| bytes; otherwise as emit */
	int (*emit_xspace)(const void *bytes, size_t n);
	/*
	 * Adds a warning to the trace, which the client shows; "gpu: NAME: " is put before it.
	 * Collector's thread.
	 */
	void (*warn)(const char *sentence);
	/*
	 * Begins a call into the device's library, on the thread that makes it, as a span of that
	 * thread: |name| is from intern(). Any thread, as cheap as a span. The result goes to
	 * call_end(); 0: the call is not recorded.
	 */
	uint64_t (*call_begin)(uint32_t name, uint64_t correlation, uint16_t device,
		uint32_t context, unsigned flags, uint32_t graph);
	void (*call_end)(uint64_t call);
	/*
	 * Reports that the calling thread makes |node| of a graph, as a copy of |original|, or as a
	 * new one (0). A later execution of |node| belongs to the spans that are open now. Any
	 * thread.
	 */
	void (*note_node)(uint64_t node, uint64_t original);
	int64_t (*monotonic_ns)(void); /* CLOCK_MONOTONIC; any thread */
	/* Returns nonzero if the capture is no longer wanted. Any thread may call it. */
	int (*is_cancelled)(void);
};

struct ptap_collector_stats {
	size_t size;
	uint64_t n_records; /* records emitted */
	uint64_t n_calls;
	/* records lost for any reason; each reason was emitted as PTAP_DEVICE_LOSS */
	uint64_t n_dropped;
	uint64_t buffer_bytes; /* the largest amount of memory in use */
};

#define PTAP_COLLECTOR_WHY_BYTES 1024u

/*
 * All steps return 0 or a negative errno; with an error |why| (PTAP_COLLECTOR_WHY_BYTES) holds a
 * sentence that names what was tried, on what, and what to do.
 *
 * -EAGAIN from probe() means "not yet": the program has not begun to use its device. probe() is
 * called again every 100 ms; its last sentence becomes a warning if the capture ends before the
 * collector could begin, unless it is "".
 *
 * NULL means that there is nothing to do in a step; probe, start and stop are required.
 */
struct ptap_collector {
	uint32_t abi; /* PTAP_COLLECTOR_ABI */
	uint32_t flags; /* enum ptap_collector_flags */
	size_t size;
	const char *name; /* "cuda" */
	int (*probe)(const struct ptap_collector_services *services, char *why);
	int (*open)(const struct ptap_collector_services *services, void **state, char *why);
	int (*arm)(void *state, char *why);
	int (*start)(void *state, char *why);
	int (*poll)(void *state, char *why);
	int (*stop)(void *state, int64_t deadline_ns, char *why); /* CLOCK_MONOTONIC */
	int (*drain)(void *state, char *why);
	void (*stats)(void *state, struct ptap_collector_stats *stats);
	void (*close)(void *state);
	/*
	 * Hands on all complete records now, so that they are in the same part of a session as the
	 * calls that they belong to. The server waits for this, 200 ms at most, before it ends a
	 * part; later records are in the next part. NULL, or beyond |size|: poll() is called
	 * instead.
	 */
	int (*flush)(void *state, char *why);
};

/*
 * The one symbol of a plug-in. |abi| is the PTAP_COLLECTOR_ABI of libproftap. NULL: the plug-in
 * cannot work with it. Any thread, no side effects.
 */
const struct ptap_collector *ptap_collector_get(uint32_t abi);
#define PTAP_COLLECTOR_SYMBOL "ptap_collector_get"

#ifdef __cplusplus
}
#endif

#endif
