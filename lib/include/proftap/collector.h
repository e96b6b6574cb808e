/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proftap/collector.h: what a plug-in is that brings records of devices (GPUs, other accelerators) into a capture.
 *
 * A collector is a shared object with one function, ptap_collector_get(). libproftap opens it inside the program when a capture
 * wants devices (device_tracer_level 1) and the program uses what the collector is for; it never closes it. Everything
 * but what is marked "any thread" happens on one thread of the library's own, |ptap-collect|, with all signals
 * blocked, in this order, as often as there are captures:
 *
 *	probe                       whether it can work here; no side effects
 *	open                        options; everything that can fail for a reason that a person can mend
 *	arm                         early work: allocates, registers; nothing is recorded yet
 *	start                       records, from here on; emits an anchor
 *	poll, again and again       hands on what is complete, so that a crash loses little
 *	flush, between polls        the same before a part of a recording is cut off, at once, however dear
 *	stop                        records no more; emits an anchor; back by its deadline
 *	drain                       hands on the rest
 *	stats                       what was lost, for which reason
 *	close                       gives back what open and arm took
 *
 * A step that fails ends the collector's part of the capture (stop, drain, stats and close are called where start succeeded, and
 * close alone where open did; drain also behind a stop that failed); the program's own spans still arrive, and the reason is a
 * warning of the trace. Who does not come back from a step costs the capture two seconds, and no other capture in this process
 * has devices until it comes back.
 *
 * Records go into a ring of the memory that the program shares with its server, as the program's own spans do: what was emitted
 * survives the program's crash. The server joins them: a record that has the |correlation| of a call (call_begin) belongs to it,
 * and to the spans around it.
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

/* Raised when an older plug-in would not work any more. */
#define PTAP_COLLECTOR_ABI 1u

/* Of struct ptap_collector. */
enum ptap_collector_flags {
	PTAP_COLLECTOR_LATE_ATTACH = 1, /* can begin at any time in the program's life */
	PTAP_COLLECTOR_EARLY = 2, /* must be opened before the program uses its device */
	PTAP_COLLECTOR_EXCLUSIVE = 4, /* there can be one such user in a process */
	PTAP_COLLECTOR_PRIVILEGED = 8, /* some of it needs more rights than the program may have */
	PTAP_COLLECTOR_COUNTERS = 16, /* emits PTAP_DEVICE_COUNTER */
	PTAP_COLLECTOR_XSPACE = 32, /* emits PTAP_DEVICE_XSPACE instead of records */
	PTAP_COLLECTOR_FORK_SAFE = 64, /* a forked child may use it */
};

enum ptap_device_kind {
	PTAP_DEVICE_KERNEL =
		1, /* what a device executed; |name| as the vendor has it, mangled or not */
	PTAP_DEVICE_COPY = 2,
	PTAP_DEVICE_SET = 3, /* memory was filled */
	PTAP_DEVICE_SYNC = 4, /* the host waited for |stream|, UINT64_MAX: all of the context */
	PTAP_DEVICE_OVERHEAD = 5, /* of the vendor's tracing; |name| says which */
	PTAP_DEVICE_MEMORY = 6, /* device memory was taken or given back, at |start_ns| */
	PTAP_DEVICE_GRAPH = 7, /* a graph of such, as a whole */
	PTAP_DEVICE_COUNTER = 8, /* a sample of |name| over [start, end] */
	/* What is known of things, in any order. */
	PTAP_DEVICE_INFO = 9, /* of |device|; |name|: its own */
	PTAP_DEVICE_STREAM = 10, /* of |stream|; |name|: what the program calls it, 0: nothing */
	/* The collector's clock at one moment (|start_ns|) and CLOCK_MONOTONIC (|end_ns|); at start, stop, and when it likes. */
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
	PTAP_DEVICE_LOSS_DROPPED = 1, /* the vendor's library had no buffer for them */
	PTAP_DEVICE_LOSS_INCOMPLETE = 2, /* the end was not known when recording ended */
	PTAP_DEVICE_LOSS_CALLS = 3, /* calls beyond gpu_max_callback_api_events */
	PTAP_DEVICE_LOSS_RECORDS = 4, /* beyond gpu_max_activity_api_events, or no memory */
	PTAP_DEVICE_LOSS_INVALID = 5, /* made no sense */
	PTAP_DEVICE_LOSS_ANNOTATIONS = 6, /* beyond gpu_max_annotation_strings */
	PTAP_DEVICE_LOSS_NAMES = 7, /* intern() had no room: the records are there, without names */
};

struct ptap_device_kernel {
	uint32_t grid[3];
	uint16_t block[3];
	uint16_t registers; /* a thread's */
	uint32_t static_shared; /* bytes a block */
	uint32_t dynamic_shared; /* bytes a block */
	uint32_t graph; /* 0: it was launched by itself */
	uint64_t graph_node;
};

struct ptap_device_copied {
	uint64_t bytes;
	uint64_t graph_node;
	uint32_t graph;
	uint16_t from_device; /* of P2P */
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
	uint64_t memory_bandwidth; /* bytes/s; 0: unknown, as below */
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
	uint32_t driver_version; /* as the vendor counts: CUDA 13.0 is 13000 */
	uint32_t library_version; /* of the collector's library: CUPTI's number */
	uint8_t uuid
		[16]; /* all zero: unknown. By it devices of several processes are known to be one */
	uint32_t vendor; /* PCI's number: 0x10de is NVIDIA, 0x1002 AMD; 0: unknown */
};

struct ptap_device_stream {
	int32_t priority;
	uint32_t flags; /* the vendor's */
};

struct ptap_device_lost {
	uint64_t n;
	uint32_t reason; /* enum ptap_device_loss */
	uint32_t kind; /* enum ptap_device_kind; 0: of any */
};

struct ptap_device_record {
	uint32_t size; /* sizeof(struct ptap_device_record) */
	uint32_t name; /* intern(); 0: none */
	uint8_t kind; /* enum ptap_device_kind */
	uint8_t reserved;
	uint16_t device; /* ordinal in this process, 0 to 255 */
	uint32_t context;
	uint64_t stream; /* the vendor's number */
	uint64_t correlation; /* of the call that it belongs to; 0: none */
	uint64_t start_ns; /* in the collector's clock, whatever it counts from */
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
	PTAP_CALL_IS_GRAPH_LAUNCH = 1, /* of the graph |graph| */
};

/* What libproftap does for a collector. Valid from open to close, but for calls that are under way. */
struct ptap_collector_services {
	size_t size;
	/* The value of an option of the capture (`proftap capture -o KEY=VALUE`), as written there, or NULL. The collector's thread. */
	const char *(*get_option)(const char *key);
	/*
	 * The number that |text| (at most 1023 bytes, more is cut) has in this process's traces for good; 0 when there is no room for
	 * it: of the 1 MiB that a process has for names a quarter is kept for its own. It is not looked for: who has it twice keeps
	 * it. Any thread.
	 */
	uint32_t (*intern)(const char *text);
	/*
	 * Writes one. Waits while the ring is full and the server reads it. 0, or -ECANCELED: nobody reads any more, give up; or
	 * -EINVAL: it is of no kind that there is, or too short. What else makes no sense (a device or an end that there cannot be) the
	 * server counts, and says. The collector's thread.
	 */
	int (*emit)(const struct ptap_device_record *record);
	int (*emit_xspace)(const void *bytes, size_t n); /* the next |n| of it; the same */
	/* A sentence for the trace's warnings and the client; "gpu: " is put before it. The collector's thread. */
	void (*warn)(const char *sentence);
	/*
	 * A call into the device's library, on the thread that makes it, as a span of that thread: |name| of intern(). Any thread, as
	 * cheap as a span. The answer goes to call_end(); 0: it is not recorded.
	 */
	uint64_t (*call_begin)(uint32_t name, uint64_t correlation, uint16_t device,
		uint32_t context, unsigned flags, uint32_t graph);
	void (*call_end)(uint64_t call);
	/*
	 * The calling thread makes a node of a graph, or one is made from |original| (0: from nothing): what is executed as |node|
	 * later belongs to the spans that are open here. Any thread.
	 */
	void (*note_node)(uint64_t node, uint64_t original);
	int64_t (*monotonic_ns)(void); /* CLOCK_MONOTONIC; any thread */
	/* Raised: the capture is not wanted any more. Any thread. */
	int (*is_cancelled)(void);
};

struct ptap_collector_stats {
	size_t size;
	uint64_t n_records; /* emitted */
	uint64_t n_calls;
	uint64_t n_dropped; /* for whatever reason, each of which was emitted as PTAP_DEVICE_LOSS */
	uint64_t buffer_bytes; /* memory that it took at most */
};

#define PTAP_COLLECTOR_WHY_BYTES 1024u

/*
 * All return 0 or a negative errno, then with a sentence in |why| (PTAP_COLLECTOR_WHY_BYTES): what was tried, on what, what to do.
 * Beyond these, -EAGAIN from probe() means "not yet": the program has not begun to use its device; it is asked again, each 100 ms,
 * and what it has said is said when the capture ends before it could begin, unless that is "".
 * NULL stands for a step that there is nothing to do in, but for probe, start and stop.
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
	 * What is complete is handed on now, so that it is in the same part of a session as the calls that it belongs to. Parts wait
	 * for it, 200 ms at most; what comes later is in the next one. NULL, or beyond |size|: poll() is called instead.
	 */
	int (*flush)(void *state, char *why);
};

/* The one symbol of a plug-in. |abi|: the library's. NULL: it cannot work with that. Any thread, no side effects. */
const struct ptap_collector *ptap_collector_get(uint32_t abi);
#define PTAP_COLLECTOR_SYMBOL "ptap_collector_get"

#ifdef __cplusplus
}
#endif

#endif
