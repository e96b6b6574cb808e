/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's driver library; see driver.h. */
#include "lib/plugins/cuda/driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "lib/plugins/cuda/sentence.h"

#define SONAME "libcuda.so.1"

/* The first of the names that there is. */
static const struct {
	size_t offset;
	const char *names[2];
	int is_optional;
} functions[] = {
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

int driver_find(struct driver *out, char *why)
{
	void *handle = dlopen(SONAME, RTLD_NOW | RTLD_NOLOAD);

	if (!handle)
		return -EAGAIN;
	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
		void *found = dlsym(handle, functions[i].names[0]);

		if (!found && functions[i].names[1])
			found = dlsym(handle, functions[i].names[1]);
		if (!found && !functions[i].is_optional)
			return say(why, -ENOSYS,
				SONAME
				" has no %s: no driver that CUPTI works with; install a newer one",
				functions[i].names[0]);
		memcpy((char *)out + functions[i].offset, &found, sizeof found);
	}
	return 0;
}

static int can_synchronize(const struct driver *driver)
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

/* One that is not active is not made for this. */
static void synchronize_device(const struct driver *driver, int device)
{
	unsigned flags = 0;
	int is_active = 0;
	void *context = NULL;

	if (driver->get_primary_state(device, &flags, &is_active) || !is_active ||
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
