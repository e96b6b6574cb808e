/* SPDX-License-Identifier: Apache-2.0 */
/* A libnvidia-ml.so.1 of two devices, as NVIDIA's documents describe it: declared apart from ours, so that neither copies the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/fake_nvml.h"

#define NOT_SUPPORTED 3
#define GPU_IS_LOST 15

typedef struct device {
	int index;
} * device_handle;

typedef struct {
	unsigned int gpu, memory;
} utilization_rates;

typedef struct {
	unsigned long long total, free, used;
} memory_info;

static struct device devices[2] = {{0}, {1}};

/* The build hides what is not said to be seen. */
#pragma GCC visibility push(default)
int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlSystemGetDriverVersion(char *version, unsigned int n);
const char *nvmlErrorString(int result);
int nvmlDeviceGetCount_v2(unsigned int *n);
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, device_handle *device);
int nvmlDeviceGetName(device_handle device, char *name, unsigned int n);
int nvmlDeviceGetUtilizationRates(device_handle device, utilization_rates *out);
int nvmlDeviceGetMemoryInfo(device_handle device, memory_info *out);
int nvmlDeviceGetPowerUsage(device_handle device, unsigned int *mw);
int nvmlDeviceGetTemperature(device_handle device, int sensor, unsigned int *celsius);
#pragma GCC visibility pop

static int read_number(const char *name, int otherwise)
{
	const char *text = getenv(name);

	return text ? atoi(text) : otherwise;
}

int nvmlInit_v2(void)
{
	return read_number(FAKE_NVML_INIT, 0);
}

int nvmlShutdown(void)
{
	return 0;
}

int nvmlSystemGetDriverVersion(char *version, unsigned int n)
{
	snprintf(version, n, "580.65.06");
	return 0;
}

const char *nvmlErrorString(int result)
{
	return result == 9 ? "Driver Not Loaded" : "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned int *n)
{
	*n = 2;
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, device_handle *device)
{
	if ((int)index == read_number(FAKE_NVML_LOST, -1))
		return GPU_IS_LOST;
	*device = &devices[index];
	return 0;
}

int nvmlDeviceGetName(device_handle device, char *name, unsigned int n)
{
	snprintf(name, n, "Fake %c", 'A' + device->index);
	return 0;
}

int nvmlDeviceGetUtilizationRates(device_handle device, utilization_rates *out)
{
	const char *path = getenv(FAKE_NVML_HANGS);

	while (path && access(path, F_OK) == 0)
		usleep(1000);
	out->gpu = 70 + (unsigned)device->index;
	out->memory = 30;
	return 0;
}

int nvmlDeviceGetMemoryInfo(device_handle device, memory_info *out)
{
	(void)device;
	*out = (memory_info){.total = 80ull << 30, .free = 20ull << 30, .used = 60ull << 30};
	return 0;
}

int nvmlDeviceGetPowerUsage(device_handle device, unsigned int *mw)
{
	if (device->index == 1)
		return NOT_SUPPORTED;
	*mw = 350500;
	return 0;
}

int nvmlDeviceGetTemperature(device_handle device, int sensor, unsigned int *celsius)
{
	(void)device;
	*celsius = sensor == 0 ? 61 : 0;
	return 0;
}
