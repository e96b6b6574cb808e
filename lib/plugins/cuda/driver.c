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
