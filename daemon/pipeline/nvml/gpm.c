/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of a device's hardware; see gpm.h. */
#include "daemon/pipeline/nvml/gpm.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/pipeline/nvml/nvml.h"

/* The least time between two looks: nearer ones may find the same numbers. */
#define REFRESH_NS (100 * NS_PER_MS)

/* The library's numbers of the metrics. */
static const unsigned ids[N_GPM_ROWS] = {
	[GPM_SM_ACTIVE] = 2,
	[GPM_SM_OCCUPANCY] = 3,
	[GPM_TENSOR_ACTIVE] = 5,
	[GPM_DRAM_ACTIVE] = 10,
	[GPM_PCIE_TX] = 20,
	[GPM_PCIE_RX] = 21,
	[GPM_NVLINK_TX] = 61,
	[GPM_NVLINK_RX] = 60,
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
		if (nvml->gpm_new(&g->looks[i]) != NVML_OK) {
			g->looks[i] = NULL;
			return;
		}
	g->device = device;
}

void gpm_close(struct gpm *g)
{
	for (int i = 0; i < 2; i++)
		if (g->looks[i])
			g->nvml->gpm_free(g->looks[i]);
	memset(g, 0, sizeof *g);
}

static int compare_looks(struct gpm *g, double values[N_GPM_ROWS])
{
	struct nvml_gpm_metrics metrics = {
		.version = NVML_GPM_VERSION,
		.n = N_GPM_ROWS,
		.from = g->looks[!g->newest],
		.to = g->looks[g->newest],
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
	g->at_ns = g->nvml->gpm_take(g->device, g->looks[g->newest]) == NVML_OK ? now_ns : 0;
	*since_ns = before_ns;
	return before_ns && g->at_ns && compare_looks(g, values);
}
