/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of a device; see gpu_reading.h. */
#include "daemon/pipeline/nvml/gpu_reading.h"

#include <math.h>

#include "daemon/pipeline/nvml/nvml.h"

static double ask_number(
	int (*ask)(struct nvml_device *, unsigned *), struct nvml_device *device, double scale)
{
	unsigned value;

	return ask && ask(device, &value) == NVML_OK ? scale * (double)value : (double)NAN;
}

static double ask_of(
	int (*ask)(struct nvml_device *, int, unsigned *), struct nvml_device *device, int what)
{
	unsigned value;

	return ask && ask(device, what, &value) == NVML_OK ? (double)value : (double)NAN;
}

/* NVML will drop the older of the two calls some day. */
static double ask_temperature(const struct nvml *nvml, struct nvml_device *device)
{
	struct nvml_temperature asked = {NVML_TEMPERATURE_VERSION, NVML_SENSOR_GPU, 0};
	double celsius = ask_of(nvml->temperature, device, NVML_SENSOR_GPU);

	if (isnan(celsius) && nvml->temperature_v && nvml->temperature_v(device, &asked) == NVML_OK)
		celsius = asked.celsius;
	return celsius;
}

void gpu_reading_clear(double values[N_GPU_ROWS])
{
	for (int i = 0; i < N_GPU_ROWS; i++)
		values[i] = (double)NAN;
}

void gpu_reading_take(
	const struct nvml *nvml, struct nvml_device *device, double values[N_GPU_ROWS])
{
	struct nvml_utilization use;
	struct nvml_memory memory;

	gpu_reading_clear(values);
	if (nvml->utilization && nvml->utilization(device, &use) == NVML_OK) {
		values[GPU_BUSY] = use.gpu;
		values[GPU_MEMORY_BUSY] = use.memory;
	}
	if (nvml->memory && nvml->memory(device, &memory) == NVML_OK) {
		values[GPU_MEMORY_USED] = (double)memory.used;
		values[GPU_MEMORY_TOTAL] = (double)memory.total;
	}
	values[GPU_POWER] = ask_number(nvml->power, device, 1e-3);
	values[GPU_TEMPERATURE] = ask_temperature(nvml, device);
	values[GPU_CLOCK] = ask_of(nvml->clock, device, NVML_CLOCK_SM);
	values[GPU_MEMORY_CLOCK] = ask_of(nvml->clock, device, NVML_CLOCK_MEMORY);
}

void gpu_read_name(const struct nvml *nvml, struct nvml_device *device, char name[GPU_NAME_BYTES])
{
	if (nvml->name(device, name, GPU_NAME_BYTES) != NVML_OK)
		name[0] = '\0';
	name[GPU_NAME_BYTES - 1] = '\0';
}
