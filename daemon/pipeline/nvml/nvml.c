/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's management library; see nvml.h. */
#include "daemon/pipeline/nvml/nvml.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	size_t offset; /* in struct nvml */
	bool is_needed;
} symbols[] = {
	{"nvmlInit_v2", offsetof(struct nvml, init), 1},
	{"nvmlShutdown", offsetof(struct nvml, shutdown), 1},
	{"nvmlDeviceGetCount_v2", offsetof(struct nvml, count), 1},
	{"nvmlDeviceGetHandleByIndex_v2", offsetof(struct nvml, find), 1},
	{"nvmlDeviceGetName", offsetof(struct nvml, name), 1},
	{"nvmlErrorString", offsetof(struct nvml, describe), 0},
	{"nvmlDeviceGetUUID", offsetof(struct nvml, uuid), 0},
	{"nvmlDeviceGetUtilizationRates", offsetof(struct nvml, utilization), 0},
	{"nvmlDeviceGetMemoryInfo", offsetof(struct nvml, memory), 0},
	{"nvmlDeviceGetPowerUsage", offsetof(struct nvml, power), 0},
	{"nvmlDeviceGetTemperature", offsetof(struct nvml, temperature), 0},
	{"nvmlDeviceGetTemperatureV", offsetof(struct nvml, temperature_v), 0},
	{"nvmlDeviceGetClockInfo", offsetof(struct nvml, clock), 0},
	{"nvmlDeviceGetComputeRunningProcesses_v3", offsetof(struct nvml, compute), 0},
	{"nvmlDeviceGetGraphicsRunningProcesses_v3", offsetof(struct nvml, graphics), 0},
	{"nvmlGpmQueryDeviceSupport", offsetof(struct nvml, gpm_ask), 0},
	{"nvmlGpmSampleAlloc", offsetof(struct nvml, gpm_new), 0},
	{"nvmlGpmSampleFree", offsetof(struct nvml, gpm_free), 0},
	{"nvmlGpmSampleGet", offsetof(struct nvml, gpm_take), 0},
	{"nvmlGpmMetricsGet", offsetof(struct nvml, gpm_compare), 0},
};

int nvml_open(struct nvml *n, const char *path)
{
	memset(n, 0, sizeof *n);
	n->handle = dlopen(path ? path : NVML_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!n->handle)
		return -ENOENT;
	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
		void *symbol = dlsym(n->handle, symbols[i].name);

		if (!symbol && symbols[i].is_needed) {
			nvml_close(n);
			return -ENOSYS;
		}
		memcpy((char *)n + symbols[i].offset, &symbol, sizeof symbol);
	}
	return 0;
}

void nvml_close(struct nvml *n)
{
	if (n->handle)
		dlclose(n->handle);
	memset(n, 0, sizeof *n);
}
