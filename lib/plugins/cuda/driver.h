/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of CUDA's driver library that the collector uses: whether the program uses the driver,
 * and its devices. It is declared here from NVIDIA's documents, because its headers may not be
 * passed on; tests/compile/nvidia compares both.
 */
#ifndef PLUGINS_CUDA_DRIVER_H
#define PLUGINS_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

struct cuda_names;
struct ptap_collector_services;

enum driver_result {
	DRIVER_OK = 0,
	/* not initialised by this process: perhaps it does not use CUDA yet, or is a child */
	DRIVER_NOT_INITIALIZED = 3,
	DRIVER_DEINITIALIZED = 4, /* the process is exiting */
	DRIVER_STUB_LIBRARY = 34, /* the library is only for linking */
	DRIVER_NO_DEVICE = 100,
	DRIVER_SYSTEM_DRIVER_MISMATCH = 803,
	DRIVER_COMPAT_NOT_SUPPORTED = 804,
	DRIVER_UNKNOWN = 999,
};

enum driver_attribute {
	DRIVER_MAX_THREADS_PER_BLOCK = 1,
	DRIVER_SHARED_PER_BLOCK = 8, /* bytes, as in the other sizes */
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

/*
 * The driver's functions; those that an old driver lacks are NULL. Each returns enum driver_result.
 */
struct driver {
	int (*get_version)(int *version); /* 13000: CUDA 13.0 */
	int (*get_device_count)(int *n);
	int (*get_device)(int *device, int ordinal);
	int (*get_name)(char *name, int n, int device);
	int (*get_memory_bytes)(size_t *bytes, int device);
	int (*get_attribute)(int *value, int attribute, int device);
	int (*get_uuid)(uint8_t uuid[16], int device); /* may be NULL, as all that follow */
	int (*get_primary_state)(int device, unsigned *flags, int *is_active);
	int (*retain_primary)(void **context, int device);
	int (*release_primary)(int device);
	int (*push_context)(void *context);
	int (*pop_context)(void **context);
	int (*synchronize)(void); /* the current context */
};

/*
 * Waits without a limit until the device has done |context|'s work. The context may not be
 * destroyed meanwhile.
 */
void driver_synchronize_context(const struct driver *driver, void *context);

/*
 * Waits until the first |n| devices have done the work of their contexts made by the runtime.
 */
void driver_synchronize_devices(const struct driver *driver, int n);

/* --- the process --------------------------------------------------------------------------- */

struct driver_facts {
	int driver_version; /* 13000: CUDA 13.0 */
	int n_devices;
};

/*
 * Checks whether this process uses CUDA. Call no function of CUPTI before this check: most fail,
 * some crash, and some initialise the driver, which breaks the children of a program that forks
 * later. 0: the process uses CUDA. -EAGAIN: not yet, no longer (it exits), or only its parent does.
 * Otherwise a negative errno with |why|: no device, or no working driver.
 */
int driver_check(struct driver *driver, struct driver_facts *out, char *why);

/* --- the devices --------------------------------------------------------------------------- */

struct driver_devices {
	const struct driver *driver;
	int n; /* the number of devices, from the first on */
	uint32_t driver_version;
	uint32_t library_version;
};

/*
 * Emits one PTAP_DEVICE_INFO for each device. A value that the driver does not report is 0. Returns
 * 0, or the result of emit().
 */
int driver_emit_devices(const struct driver_devices *d, struct cuda_names *names,
	const struct ptap_collector_services *services);

#endif
