/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's driver library, as far as a collector needs it: whether the program uses it, and what its devices are. Declared here
 * from its documents, for its own headers may not be passed on; tests/interop holds this against them.
 */
#ifndef PLUGINS_CUDA_DRIVER_H
#define PLUGINS_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

enum driver_result {
	DRIVER_OK = 0,
	/* by this process, which may not have begun yet, or is a child */
	DRIVER_NOT_INITIALIZED = 3,
	DRIVER_DEINITIALIZED = 4, /* the process ends */
	DRIVER_STUB_LIBRARY = 34, /* for linking, not for running */
	DRIVER_NO_DEVICE = 100,
	DRIVER_SYSTEM_DRIVER_MISMATCH = 803,
	DRIVER_COMPAT_NOT_SUPPORTED = 804,
	DRIVER_UNKNOWN = 999,
};

enum driver_attribute {
	DRIVER_MAX_THREADS_PER_BLOCK = 1,
	DRIVER_SHARED_PER_BLOCK = 8, /* bytes, as are all such */
	DRIVER_WARP_THREADS = 10,
	DRIVER_REGISTERS_PER_BLOCK = 12,
	DRIVER_CLOCK_KHZ = 13,
	DRIVER_CORE_COUNT = 16,
	DRIVER_MEMORY_CLOCK_KHZ = 36,
	DRIVER_MEMORY_BUS_BITS = 37,
	DRIVER_MAX_THREADS_PER_CORE = 39,
	DRIVER_COMPUTE_MAJOR = 75,
	DRIVER_COMPUTE_MINOR = 76,
	DRIVER_SHARED_PER_CORE = 81,
	DRIVER_REGISTERS_PER_CORE = 82,
	DRIVER_SHARED_PER_BLOCK_OPTIN = 97,
	DRIVER_MAX_BLOCKS_PER_CORE = 106,
	DRIVER_RESERVED_SHARED_PER_BLOCK = 111,
};

/* Its functions; those that an old driver may lack are NULL then. Each answers enum driver_result. */
struct driver {
	int (*get_version)(int *version); /* 13000: CUDA 13.0 */
	int (*get_device_count)(int *n);
	int (*get_device)(int *device, int ordinal);
	int (*get_name)(char *name, int n, int device);
	int (*get_memory_bytes)(size_t *bytes, int device);
	int (*get_attribute)(int *value, int attribute, int device);
	int (*get_uuid)(uint8_t uuid[16], int device); /* or NULL, as all that follow */
	int (*get_primary_state)(int device, unsigned *flags, int *is_active);
	int (*retain_primary)(void **context, int device);
	int (*release_primary)(int device);
	int (*push_context)(void *context);
	int (*pop_context)(void **context);
	int (*synchronize)(void); /* the current context */
};

/*
 * The one that is mapped in this process. Loads nothing: 0, or -EAGAIN (and no word of it) when there is none, or -ENOSYS with |why|
 * when it lacks a function. It stays mapped, as it would without us.
 */
int driver_find(struct driver *out, char *why);

/* Waits, for however long, until |context|'s device has done what it was given there. It may not be destroyed meanwhile. */
void driver_synchronize_context(const struct driver *driver, void *context);

/* The same with the contexts that the runtime makes, of the first |n| devices. */
void driver_synchronize_devices(const struct driver *driver, int n);

#endif
