/* SPDX-License-Identifier: Apache-2.0 */
/* What the devices are; see devices.h. What a driver does not tell is 0. */
#include "lib/plugins/cuda/devices.h"

#include <proftap/collector.h>
#include <string.h>

#include "lib/plugins/cuda/driver.h"
#include "lib/plugins/cuda/names.h"

#define NAME_BYTES 128
/* PCI's number. */
#define NVIDIA 0x10deu

/* Those that are a number as it is. */
static const struct {
	int attribute;
	size_t offset;
} numbers[] = {
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

/* Both edges of the clock carry data. */
static uint64_t read_bandwidth(const struct driver *driver, int device)
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
	info->memory_bandwidth = read_bandwidth(driver, device);
	info->compute_major = (uint16_t)read_attribute(driver, DRIVER_COMPUTE_MAJOR, device);
	info->compute_minor = (uint16_t)read_attribute(driver, DRIVER_COMPUTE_MINOR, device);
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		uint32_t number = read_attribute(driver, numbers[i].attribute, device);

		memcpy((char *)info + numbers[i].offset, &number, sizeof number);
	}
	if (!driver->get_uuid || driver->get_uuid(info->uuid, device))
		memset(info->uuid, 0, sizeof info->uuid);
}

static int emit_device(const struct devices *d, int ordinal, struct names *names,
	const struct ptap_collector_services *services)
{
	struct ptap_device_record record = {
		.size = sizeof record, .kind = PTAP_DEVICE_INFO, .device = (uint16_t)ordinal};
	char name[NAME_BYTES] = "";
	int device;

	if (d->driver->get_device(&device, ordinal))
		return 0;
	if (!d->driver->get_name(name, sizeof name, device) && name[0])
		record.name = names_find(names, PTAP_DEVICE_INFO, name);
	read_info(d->driver, device, &record.of.info);
	record.of.info.driver_version = d->driver_version;
	record.of.info.library_version = d->library_version;
	record.of.info.vendor = NVIDIA;
	return services->emit(&record);
}

int devices_emit(const struct devices *d, struct names *names,
	const struct ptap_collector_services *services)
{
	int r = 0;

	for (int i = 0; i < d->n && i <= UINT16_MAX && !r; i++)
		r = emit_device(d, i, names, services);
	return r;
}
