/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's driver library; see driver.h. */
#include "lib/plugins/cuda/driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <proftap/collector.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lib/plugins/cuda/names.h"
#include "lib/plugins/cuda/sentence.h"

#define SONAME "libcuda.so.1"

/* The first name that exists is used. */
static const struct {
	size_t offset;
	const char *names[2];
	bool is_optional;
} driver_functions[] = {
	{offsetof(struct driver, get_version), {"cuDriverGetVersion"}, 0},
	{offsetof(struct driver, get_device_count), {"cuDeviceGetCount"}, 0},
	{offsetof(struct driver, get_device), {"cuDeviceGet"}, 0},
	{offsetof(struct driver, get_name), {"cuDeviceGetName"}, 0},
	{offsetof(struct driver, get_memory_bytes), {"cuDeviceTotalMem_v2"}, 0},
	{offsetof(struct driver, get_attribute), {"cuDeviceGetAttribute"}, 0},
	{offsetof(struct driver, get_uuid), {"cuDeviceGetUuid_v2", "cuDeviceGetUuid"}, 1},
	{offsetof(struct driver, get_primary_state), {"cuDevicePrimaryCtxGetState"}, 1},
	{offsetof(struct driver, retain_primary), {"cuDevicePrimaryCtxRetain"}, 1},
	{offsetof(struct driver, release_primary),
		{"cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease"}, 1},
	{offsetof(struct driver, push_context), {"cuCtxPushCurrent_v2"}, 1},
	{offsetof(struct driver, pop_context), {"cuCtxPopCurrent_v2"}, 1},
	{offsetof(struct driver, synchronize), {"cuCtxSynchronize"}, 1},
};

/*
 * Finds the driver that is mapped in this process. Loads nothing. 0; -EAGAIN without a message if
 * none is mapped; or -ENOSYS with |why| if it lacks a function. The driver stays mapped, as it
 * would without us.
 */
static int driver_find(struct driver *out, char *why)
{
	void *handle = dlopen(SONAME, RTLD_NOW | RTLD_NOLOAD);

	if (!handle)
		return -EAGAIN;
	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < sizeof driver_functions / sizeof driver_functions[0]; i++) {
		void *found = dlsym(handle, driver_functions[i].names[0]);

		if (!found && driver_functions[i].names[1])
			found = dlsym(handle, driver_functions[i].names[1]);
		if (!found && !driver_functions[i].is_optional)
			return sentence_write(why, -ENOSYS,
				SONAME
				" has no %s: CUPTI does not work with this driver; install a newer one",
				driver_functions[i].names[0]);
		memcpy((char *)out + driver_functions[i].offset, &found, sizeof found);
	}
	return 0;
}

static bool can_synchronize(const struct driver *driver)
{
	return driver->push_context && driver->pop_context && driver->synchronize;
}

void driver_synchronize_context(const struct driver *driver, void *context)
{
	if (!can_synchronize(driver) || driver->push_context(context))
		return;
	driver->synchronize();
	driver->pop_context(&context);
}

/* An inactive context is not activated for this. */
static void synchronize_device(const struct driver *driver, int device)
{
	unsigned flags = 0;
	int active = 0;
	void *context = NULL;

	if (driver->get_primary_state(device, &flags, &active) || !active ||
		driver->retain_primary(&context, device))
		return;
	driver_synchronize_context(driver, context);
	driver->release_primary(device);
}

void driver_synchronize_devices(const struct driver *driver, int n)
{
	int device;

	if (!driver->get_primary_state || !driver->retain_primary || !driver->release_primary)
		return;
	for (int i = 0; i < n; i++)
		if (!driver->get_device(&device, i))
			synchronize_device(driver, device);
}

/* --- the process --------------------------------------------------------------------------- */

/* The results of cuDeviceGetCount() and their meanings here. */
static const struct {
	int result;
	int code;
	const char *sentence;
} count_results[] = {
	{DRIVER_NOT_INITIALIZED, -EAGAIN, "the program has not initialised CUDA"},
	{DRIVER_DEINITIALIZED, -EAGAIN, "the program ends: CUDA is gone"},
	{DRIVER_STUB_LIBRARY, -ENODEV,
		"libcuda.so.1 is the toolkit's stub, for linking only; take its folder out of "
		"LD_LIBRARY_PATH, and install NVIDIA's driver"},
	{DRIVER_NO_DEVICE, -ENODEV,
		"CUDA sees no device; is CUDA_VISIBLE_DEVICES empty, or the container without --gpus?"},
	{DRIVER_SYSTEM_DRIVER_MISMATCH, -ENODEV,
		"libcuda.so.1 and the kernel's NVIDIA module are of different versions; load the new module "
		"(reboot), or let the container use the host's libraries"},
	{DRIVER_COMPAT_NOT_SUPPORTED, -ENODEV,
		"libcuda.so.1 is of CUDA's compatibility package, which this device is not for; use the "
		"driver's own"},
};

int driver_check(struct driver *driver, struct driver_facts *out, char *why)
{
	int r = driver_find(driver, why);
	int result;

	if (r)
		return r;
	result = driver->get_device_count(&out->n_devices);
	for (size_t i = 0; i < sizeof count_results / sizeof count_results[0]; i++)
		if (count_results[i].result == result)
			return sentence_write(
				why, count_results[i].code, "%s", count_results[i].sentence);
	if (result)
		return sentence_write(why, -ENODEV,
			"CUDA's driver does not work: error %d when it was asked for its devices; see nvidia-smi",
			result);
	if (out->n_devices < 1)
		return sentence_write(
			why, -ENODEV, "CUDA sees no device; is CUDA_VISIBLE_DEVICES empty?");
	result = driver->get_version(&out->driver_version);
	if (result)
		return sentence_write(why, -ENODEV,
			"CUDA's driver does not tell its version (error %d); see nvidia-smi",
			result);
	return 0;
}

/* --- the devices --------------------------------------------------------------------------- */

#define DEVICE_NAME_BYTES 128
/* The PCI vendor number. */
#define NVIDIA 0x10deu

/* Attributes that are copied as they are. */
static const struct {
	int attribute;
	size_t offset;
} number_attributes[] = {
	{DRIVER_CORE_COUNT, offsetof(struct ptap_device_info, core_count)},
	{DRIVER_CLOCK_KHZ, offsetof(struct ptap_device_info, clock_khz)},
	{DRIVER_WARP_THREADS, offsetof(struct ptap_device_info, warp_threads)},
	{DRIVER_MAX_THREADS_PER_BLOCK, offsetof(struct ptap_device_info, max_threads_per_block)},
	{DRIVER_MAX_THREADS_PER_CORE, offsetof(struct ptap_device_info, max_threads_per_core)},
	{DRIVER_MAX_BLOCKS_PER_CORE, offsetof(struct ptap_device_info, max_blocks_per_core)},
	{DRIVER_REGISTERS_PER_BLOCK, offsetof(struct ptap_device_info, registers_per_block)},
	{DRIVER_REGISTERS_PER_CORE, offsetof(struct ptap_device_info, registers_per_core)},
	{DRIVER_SHARED_PER_BLOCK, offsetof(struct ptap_device_info, shared_per_block)},
	{DRIVER_SHARED_PER_BLOCK_OPTIN, offsetof(struct ptap_device_info, shared_per_block_optin)},
	{DRIVER_SHARED_PER_CORE, offsetof(struct ptap_device_info, shared_per_core)},
	{DRIVER_RESERVED_SHARED_PER_BLOCK,
		offsetof(struct ptap_device_info, reserved_shared_per_block)},
};

static uint32_t read_attribute(const struct driver *driver, int attribute, int device)
{
	int value = 0;

	return driver->get_attribute(&value, attribute, device) || value < 0 ? 0 : (uint32_t)value;
}

/* bytes/s; both edges of the clock carry data */
static uint64_t read_memory_bandwidth(const struct driver *driver, int device)
{
	uint64_t khz = read_attribute(driver, DRIVER_MEMORY_CLOCK_KHZ, device);
	uint64_t bits = read_attribute(driver, DRIVER_MEMORY_BUS_BITS, device);

	return 2 * khz * 1000 * bits / 8;
}

static void read_info(const struct driver *driver, int device, struct ptap_device_info *info)
{
	size_t bytes = 0;

	if (!driver->get_memory_bytes(&bytes, device))
		info->memory_bytes = bytes;
	info->memory_bandwidth = read_memory_bandwidth(driver, device);
	info->compute_major = (uint16_t)read_attribute(driver, DRIVER_COMPUTE_MAJOR, device);
	info->compute_minor = (uint16_t)read_attribute(driver, DRIVER_COMPUTE_MINOR, device);
	for (size_t i = 0; i < sizeof number_attributes / sizeof number_attributes[0]; i++) {
		uint32_t number = read_attribute(driver, number_attributes[i].attribute, device);

		memcpy((char *)info + number_attributes[i].offset, &number, sizeof number);
	}
	if (!driver->get_uuid || driver->get_uuid(info->uuid, device))
		memset(info->uuid, 0, sizeof info->uuid);
}

static int emit_device(const struct driver_devices *d, int ordinal, struct cuda_names *names,
	const struct ptap_collector_services *services)
{
	struct ptap_device_record record = {
		.size = sizeof record, .kind = PTAP_DEVICE_INFO, .device = (uint16_t)ordinal};
	char name[DEVICE_NAME_BYTES] = "";
	int device;

	if (d->driver->get_device(&device, ordinal))
		return 0;
	if (!d->driver->get_name(name, sizeof name, device) && name[0])
		record.name = cuda_names_find(names, PTAP_DEVICE_INFO, name);
	read_info(d->driver, device, &record.of.info);
	record.of.info.driver_version = d->driver_version;
	record.of.info.library_version = d->library_version;
	record.of.info.vendor = NVIDIA;
	return services->emit(&record);
}

int driver_emit_devices(const struct driver_devices *d, struct cuda_names *names,
	const struct ptap_collector_services *services)
{
	int r = 0;

	for (int i = 0; i < d->n && i <= UINT16_MAX && !r; i++)
		r = emit_device(d, i, names, services);
	return r;
}
