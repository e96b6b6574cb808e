/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of CUPTI, NVIDIA's tracing library, that the collector uses: its functions, found by
 * name, and its numbers. They are declared here from NVIDIA's documents, because its headers may
 * not be passed on; tests/compile/nvidia compares them with those headers. record_layout.h has
 * CUPTI's records, pm_cupti.h its counters.
 */
#ifndef PLUGINS_CUDA_CUPTI_H
#define PLUGINS_CUDA_CUPTI_H

#include <stddef.h>
#include <stdint.h>

enum cupti_result {
	CUPTI_OK = 0,
	CUPTI_INVALID_PARAMETER = 1,
	CUPTI_INVALID_OPERATION = 7,
	CUPTI_OUT_OF_MEMORY = 8,
	CUPTI_MAX_LIMIT_REACHED = 12, /* also: the end of a buffer */
	CUPTI_NOT_COMPATIBLE = 14,
	CUPTI_NOT_INITIALIZED = 15,
	CUPTI_INVALID_METRIC_NAME = 17,
	CUPTI_INVALID_KIND = 21,
	CUPTI_HARDWARE_BUSY = 26,
	CUPTI_NOT_SUPPORTED = 27,
	CUPTI_VIRTUALIZED_DEVICE_NOT_SUPPORTED = 33,
	CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	CUPTI_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 39,
	CUPTI_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES = 40,
	CUPTI_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED = 41,
	CUPTI_CMP_DEVICE_NOT_SUPPORTED = 42,
	CUPTI_MIG_DEVICE_NOT_SUPPORTED = 43,
	CUPTI_SLI_DEVICE_NOT_SUPPORTED = 44,
	CUPTI_WSL_DEVICE_NOT_SUPPORTED = 45,
	CUPTI_INVALID_CHIP_NAME = 46,
	CUPTI_UNKNOWN = 999,
};

/* The domains of callbacks. */
enum cupti_domain {
	CUPTI_DRIVER_API = 1,
	CUPTI_RUNTIME_API = 2,
	CUPTI_RESOURCE = 3,
	CUPTI_STATE = 6,
};

enum cupti_site {
	CUPTI_ENTER = 0,
	CUPTI_EXIT = 1,
};

enum cupti_resource_callback {
	CUPTI_CONTEXT_DESTROY_STARTING = 2,
	CUPTI_NODE_CREATED = 13,
	CUPTI_NODE_CLONED = 20,
};

enum cupti_state_callback {
	CUPTI_FATAL_ERROR = 1, /* CUPTI has ended itself */
};

/* The kinds of activity. */
enum cupti_kind {
	CUPTI_MEMCPY = 1,
	CUPTI_MEMSET = 2,
	CUPTI_KERNEL = 3,
	CUPTI_CONTEXT = 9,
	CUPTI_CONCURRENT_KERNEL = 10,
	CUPTI_OVERHEAD = 17,
	CUPTI_MEMCPY2 = 22, /* from one device to another */
	CUPTI_STREAM = 37,
	CUPTI_SYNCHRONIZATION = 38,
	CUPTI_MEMORY2 = 49,
	CUPTI_MEMORY_POOL = 50,
	CUPTI_GRAPH_TRACE = 51,
	CUPTI_KINDS,
};

enum cupti_attribute {
	CUPTI_DEVICE_BUFFER_POOL_LIMIT = 2, /* size_t */
	CUPTI_ZEROED_OUT_ACTIVITY_BUFFER = 5, /* uint8_t: the buffers that CUPTI gets are zeroed */
};

enum cupti_thread_id_type {
	CUPTI_THREAD_ID_SYSTEM = 1, /* gettid() */
};

enum cupti_flush {
	CUPTI_FLUSH_COMPLETE = 0, /* only buffers whose records are all complete */
	CUPTI_FLUSH_FORCED = 1, /* all; a record without an end time never gets it */
};

/* The information of a callback of CUPTI_DRIVER_API or CUPTI_RUNTIME_API. */
struct cupti_call {
	uint32_t site; /* enum cupti_site */
	const char *function;
	const void *parameters;
	void *result;
	const char *symbol; /* the kernel's name, in a launch */
	void *context;
	uint32_t context_id;
	uint64_t *slot; /* 64 bits that ENTER and EXIT of a call share */
	uint32_t correlation;
};

/*
 * The information of a callback of CUPTI_RESOURCE; in one about graphs |descriptor| is a struct
 * cupti_graph.
 */
struct cupti_resource {
	void *context;
	void *handle;
	void *descriptor;
};

struct cupti_graph {
	void *graph;
	void *original_graph;
	void *node;
	void *original_node;
	uint32_t node_type;
	void *dependency;
	void *executable;
};

/* The information of a callback of CUPTI_STATE. */
struct cupti_notice {
	int32_t result; /* enum cupti_result */
	const char *message; /* or NULL */
};

/* A subscription by name (13.0): if another tool has subscribed, CUPTI returns that tool's name. */
struct cupti_subscription {
	size_t size; /* bytes, of the fields that this CUPTI knows */
	const char *name; /* at most 53 characters; CUPTI puts "CUPTI for " before it */
	char *holder; /* receives the other tool's name */
	size_t holder_bytes; /* at least CUPTI_HOLDER_BYTES */
	uint8_t allow_multiple; /* 13.2 */
	uint8_t padding[7];
};

#define CUPTI_HOLDER_BYTES 64u
/* The sizes before 13.2, and since. */
#define CUPTI_SUBSCRIPTION_BYTES_OLD 32u
#define CUPTI_SUBSCRIPTION_BYTES 40u

typedef void (*cupti_callback)(
	void *state, uint32_t domain, uint32_t callback, const void *information);
typedef void (*cupti_request)(uint8_t **buffer, size_t *bytes, size_t *max_records);
typedef void (*cupti_complete)(
	void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes);

/*
 * CUPTI's functions. Only one thread at a time may call them, except for those that only return a
 * number, such as get_timestamp(). Each returns enum cupti_result.
 */
struct cupti {
	uint32_t version; /* such as 24: CUDA 12.6; since 13.0 such as 130001: 13.0 update 1 */

	int (*get_version)(uint32_t *version);
	int (*get_result_string)(int result, const char **text);
	int (*subscribe)(void **subscriber, cupti_callback callback, void *state);
	int (*unsubscribe)(void *subscriber);
	int (*enable_callback)(
		uint32_t enable, void *subscriber, uint32_t domain, uint32_t callback);
	int (*get_callback_name)(uint32_t domain, uint32_t callback, const char **name);
	int (*enable)(uint32_t kind);
	int (*disable)(uint32_t kind);
	int (*register_callbacks)(cupti_request request, cupti_complete complete);
	int (*flush)(uint32_t flags);
	int (*next_record)(uint8_t *buffer, size_t valid_bytes, void **record);
	int (*get_dropped)(void *context, uint32_t stream, size_t *n); /* since the last call */
	int (*set_attribute)(uint32_t attribute, size_t *bytes, void *value);
	int (*get_attribute)(uint32_t attribute, size_t *bytes, void *value);
	int (*get_timestamp)(uint64_t *ns);
	int (*set_thread_id_type)(uint32_t type);
	int (*get_device_id)(void *context, uint32_t *device);
	int (*finalize)(void);

	/* Functions that some versions lack: NULL then. */
	int (*subscribe_by_name)(void **subscriber, cupti_callback callback, void *state,
		struct cupti_subscription *subscription);
	int (*enable_and_dump)(uint32_t kind); /* also reports what exists already */
	int (*enable_all_waits)(
		uint8_t enable); /* 1: also records polls of a stream or event not yet done */
	int (*get_graph_exec_id)(void *executable, uint32_t *id);
	int (*get_graph_node_id)(void *node, uint64_t *id);
};

#define LIBRARY_PATH_BYTES 1024u

/* The variable that names the only file to open. */
#define LIBRARY_VARIABLE "PROFTAP_CUPTI"

struct library {
	void *handle;
	char path[LIBRARY_PATH_BYTES]; /* the library's path, if known */
	char searched[640]; /* where it was not found; Python's paths are long */
	char refused[300]; /* the file that could not be opened, and the reason */
};

/*
 * Finds CUPTI, opens it and binds its functions. Few programs are linked with it, and its place
 * depends on how CUDA was installed. The order is: the user's setting; a copy that the program has
 * loaded, because two copies disturb each other; beside the CUDA libraries that the program has
 * loaded, as in Python's wheels; the linker's folders; the toolkit's folders. In each folder,
 * the CUPTI of the CUDA version that the program has loaded comes first, because its records match
 * the driver. |driver| is the program's driver version (13000). An opened library stays open,
 * since it may have hooked itself into the driver.
 *
 * 0, or a negative errno with |why|: not found (and where it was searched), a function is missing,
 * the version is too old, or unknown.
 */
int library_open(struct library *l, int driver, struct cupti *out, char *why);

/* Calls |tell| with a sentence for each missing function without which a capture is incomplete. */
void cupti_tell_missing(const struct cupti *cupti,
	void (*tell)(void *context, const char *function, const char *without), void *context);

#endif
