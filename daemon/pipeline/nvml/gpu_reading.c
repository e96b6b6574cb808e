/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of a device; see gpu_reading.h. */
#include "daemon/pipeline/nvml/gpu_reading.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
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

/* Tries both calls, because NVML will drop the older one some day. */
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

/* --- gpm -------------------------------------------------------------------------------------- */

/* The least time between two GPM samples: closer ones may contain the same numbers. */
#define REFRESH_NS (100 * NS_PER_MS)

/* NVML's ids of the metrics. */
static const unsigned ids[N_GPM_ROWS] = {
	[GPM_SM_ACTIVE] = NVML_GPM_SM_ACTIVE,
	[GPM_SM_OCCUPANCY] = NVML_GPM_SM_OCCUPANCY,
	[GPM_TENSOR_ACTIVE] = NVML_GPM_TENSOR_ACTIVE,
	[GPM_DRAM_ACTIVE] = NVML_GPM_DRAM_ACTIVE,
	[GPM_PCIE_TX] = NVML_GPM_PCIE_TX,
	[GPM_PCIE_RX] = NVML_GPM_PCIE_RX,
	[GPM_NVLINK_TX] = NVML_GPM_NVLINK_TX,
	[GPM_NVLINK_RX] = NVML_GPM_NVLINK_RX,
};

static bool has_gpm(const struct nvml *nvml, struct nvml_device *device)
{
	struct nvml_gpm_support support = {.version = NVML_GPM_VERSION};

	return nvml->gpm_ask && nvml->gpm_new && nvml->gpm_free && nvml->gpm_take &&
	       nvml->gpm_compare && nvml->gpm_ask(device, &support) == NVML_OK &&
	       support.is_supported;
}

void gpm_open(struct gpm *g, const struct nvml *nvml, struct nvml_device *device)
{
	memset(g, 0, sizeof *g);
	g->nvml = nvml;
	if (!has_gpm(nvml, device))
		return;
	for (int i = 0; i < 2; i++)
		if (nvml->gpm_new(&g->samples[i]) != NVML_OK) {
			g->samples[i] = NULL;
			return;
		}
	g->device = device;
}

void gpm_close(struct gpm *g)
{
	for (int i = 0; i < 2; i++)
		if (g->samples[i])
			g->nvml->gpm_free(g->samples[i]);
	memset(g, 0, sizeof *g);
}

static int compare_samples(struct gpm *g, double values[N_GPM_ROWS])
{
	struct nvml_gpm_metrics metrics = {
		.version = NVML_GPM_VERSION,
		.n = N_GPM_ROWS,
		.from = g->samples[!g->newest],
		.to = g->samples[g->newest],
	};

	for (int i = 0; i < N_GPM_ROWS; i++)
		metrics.v[i].id = ids[i];
	if (g->nvml->gpm_compare(&metrics) != NVML_OK)
		return 0;
	for (int i = 0; i < N_GPM_ROWS; i++)
		if (metrics.v[i].error == NVML_OK)
			values[i] = metrics.v[i].value;
	return 1;
}

int gpm_read(struct gpm *g, int64_t now_ns, double values[N_GPM_ROWS], int64_t *since_ns)
{
	int64_t before_ns = g->at_ns;

	for (int i = 0; i < N_GPM_ROWS; i++)
		values[i] = (double)NAN;
	if (!g->device || (before_ns && now_ns - before_ns < REFRESH_NS))
		return 0;
	g->newest = !g->newest;
	g->at_ns = g->nvml->gpm_take(g->device, g->samples[g->newest]) == NVML_OK ? now_ns : 0;
	*since_ns = before_ns;
	return before_ns && g->at_ns && compare_samples(g, values);
}
