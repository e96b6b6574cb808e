/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcupti.so.13 that stands for NVIDIA's where there is no GPU, and its script: what the
 * "program" does on the "device", which functions fail, and which calls it got. It was written from
 * NVIDIA's documents and from the behaviour of the real library without a driver, and separately
 * from lib/plugins/cuda, so that neither copies the other.
 *
 * Here, breaking an undocumented rule of the real library ends the process: CUDA called from a
 * callback, a flush in a callback, a call by a client that was refused because another one is
 * subscribed, a chip's name before cuInit(), a refused buffer in a version that cannot handle that,
 * a buffer that is declared as zeroed and is not, disabled kinds on which some versions hang, a
 * context that is used after its end, or destroyed while it is used, and a call in a forked child
 * that did not reset the fake.
 */
#ifndef TESTS_CUDA_FAKE_H
#define TESTS_CUDA_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fake_knob {
	FAKE_VERSION, /* the result of cuptiGetVersion(); at first 130001 */
	FAKE_HAS_THREAD_BUFFERS, /* 1: a buffer for each thread; 0: one for all */
	FAKE_HAS_WORKER, /* buffers come back on a thread of CUPTI's own */
	FAKE_HOLDS_LOCK, /* during its callbacks for buffers, as the real one may */
	FAKE_CORRELATION, /* of the last call */
	FAKE_CLOCK_OFFSET_NS, /* its clock minus CLOCK_REALTIME; signed */
	FAKE_DROPPED, /* number of records to report as dropped */
	FAKE_FLUSH_HANGS,
	FAKE_FINALIZE_WAITS, /* for the program's next call */
	FAKE_FORGETS_GRAPHS, /* work of graphs gets the correlation of another call */
	FAKE_POISONS_NAMES, /* after their buffer was read; at first 1 */
	FAKE_CHECKS_ZEROES, /* at first 1 */
	FAKE_ENDS_CALLS_LATE, /* EXIT also comes when no client is subscribed any more */
	FAKE_HAS_NO_SAMPLING, /* of counters, as on a virtual GPU */
	FAKE_SAMPLES, /* number of samples since the start */
	FAKE_SAMPLING_OVERFLOWS, /* once */
	FAKE_KNOBS
};

/*
 * A record of any kind, from which the bytes of the version are made. A field that is 0 and needs a
 * value gets one.
 */
struct fake_record {
	uint32_t kind;
	uint64_t start_ns; /* 0: now */
	uint64_t end_ns; /* 0: a microsecond later */
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t correlation; /* of the call, if it is of one */
	const char *name;
	uint32_t grid[3];
	uint32_t block[3];
	uint16_t registers;
	uint32_t static_shared;
	uint32_t dynamic_shared;
	uint64_t bytes;
	uint8_t direction;
	uint8_t from;
	uint8_t to;
	uint8_t is_async;
	uint32_t value;
	uint32_t from_device;
	uint32_t to_device;
	uint32_t graph;
	uint64_t node;
	uint32_t type; /* of a wait, an operation or an overhead */
	uint32_t event;
	uint32_t object_kind;
	uint64_t address;
	int32_t priority;
	uint32_t flags;
};

/* The size of the largest record of all versions. */
#define FAKE_MAX_RECORD_BYTES 256u

struct fake {
	/* Restores the initial state. No thread may be in a call or record. */
	void (*reset)(void);
	void (*set)(enum fake_knob knob, uint64_t value);
	uint64_t (*get)(enum fake_knob knob);
	/*
	 * From its |nth| call on (1: the next one), |function| returns |result|. |result| 0: it
	 * works again.
	 */
	void (*refuse)(const char *function, int result, int nth);
	/* Subscribes another tool, |holder|; NULL: that tool unsubscribes. */
	void (*take_slot)(const char *holder);
	/* Ends every wait of the fake. */
	void (*release)(void);

	/* The program calls |function| on the calling thread. */
	uint32_t (*call)(const char *function, const struct fake_record *work, size_t n);
	/* The same in two steps; the first returns the correlation. */
	uint32_t (*begin_call)(const char *function, void *parameters);
	void (*end_call)(void);
	void (*record)(const struct fake_record *r); /* one record, of any kind */
	/* Work that begins from now on does not end until let_device_go(). */
	void (*hold_device)(void);
	void (*let_device_go)(void);
	/* Creates a node, or clones it from |original|. */
	void (*make_node)(uint64_t node, uint64_t original);
	/*
	 * Contexts that the program creates, from 3 on; 1 and 2 are the primary ones of the
	 * devices.
	 */
	void (*make_context)(uint32_t context);
	void (*destroy_context)(uint32_t context);
	void (*die)(int result, const char *message); /* CUPTI ends itself and reports it */

	/* Facts about the calls that the fake got. */
	int (*count)(const char *function);
	bool (*is_before)(const char *first, const char *second); /* last call of each */
	bool (*is_enabled)(uint32_t kind);
	bool (*is_subscribed)(void);
	int (*count_callbacks)(void); /* number of enabled callbacks */
	uint64_t (*get_attribute)(uint32_t attribute);
	int (*count_buffers)(void); /* number of buffers that the fake has */
	void (*ask_for_buffer)(void); /* for the calling thread, though nothing is to be written */
	void (*give_buffers_back)(void); /* all of them, complete or not */

	/*
	 * Writes a record in the layout of |version|. Returns its size; 0: that version has no such
	 * kind.
	 */
	size_t (*write)(uint32_t version, const struct fake_record *r, uint8_t *at);
	uint64_t (*now_ns)(void);
};

/* The symbol that dlsym() finds. */
#define FAKE_SYMBOL "fake_get"
typedef const struct fake *(*fake_getter)(void);

/*
 * The settings of the fake libcuda.so.1. A setting is 0 at first if its comment does not say
 * otherwise: nobody has called cuInit().
 */
#define FAKE_DRIVER_SYMBOL "fake_driver_set"
enum fake_driver_knob {
	FAKE_DRIVER_IS_INITIALIZED, /* 1: cuInit() was called */
	FAKE_DRIVER_RESULT, /* result of cuDeviceGetCount(), if not 0 */
	FAKE_DRIVER_VERSION, /* at first 13000 */
	FAKE_DRIVER_DEVICES, /* at first 2 */
	FAKE_DRIVER_KNOBS
};
typedef void (*fake_driver_setter)(enum fake_driver_knob knob, int value);
/* The function that runs when the program waits for the device. */
#define FAKE_DRIVER_SYNCHRONIZE_SYMBOL "fake_driver_at_synchronize"
typedef void (*fake_driver_synchronize)(void (*act)(uint32_t context));
#define FAKE_DRIVER_CONTEXT_SYMBOL "fake_driver_set_context"
typedef void (*fake_driver_context)(uint32_t context, bool is_alive);
/* Set by CUPTI: whether the calling thread is in a callback. */
#define FAKE_GUARD_SYMBOL "fake_driver_guard_by"
typedef void (*fake_driver_guard)(bool (*is_forbidden)(void));
#define FAKE_DRIVER_STATE_SYMBOL "fake_driver_is_initialized"
typedef bool (*fake_driver_state)(void);

#endif
