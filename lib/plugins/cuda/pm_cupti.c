/* SPDX-License-Identifier: Apache-2.0 */
/* Finds CUPTI's functions for the sampling of counters; see pm_cupti.h. */
#include "lib/plugins/cuda/pm_cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#define ROW(member, name)                                       \
	{                                                       \
		offsetof(struct pm_cupti, member), "cupti" name \
	}

static const struct {
	size_t offset;
	const char *name;
} sampling_functions[] = {
	ROW(initialize, "ProfilerInitialize"),
	ROW(get_chip, "DeviceGetChipName"),
	ROW(get_support, "ProfilerDeviceSupported"),
	ROW(get_availability, "PmSamplingGetCounterAvailability"),
	ROW(host_open, "ProfilerHostInitialize"),
	ROW(host_close, "ProfilerHostDeinitialize"),
	ROW(add_metrics, "ProfilerHostConfigAddMetrics"),
	ROW(get_config_size, "ProfilerHostGetConfigImageSize"),
	ROW(get_config, "ProfilerHostGetConfigImage"),
	ROW(count_passes, "ProfilerHostGetNumOfPasses"),
	ROW(evaluate, "ProfilerHostEvaluateToGpuValues"),
	ROW(enable, "PmSamplingEnable"),
	ROW(disable, "PmSamplingDisable"),
	ROW(set_config, "PmSamplingSetConfig"),
	ROW(get_data_size, "PmSamplingGetCounterDataSize"),
	ROW(init_data, "PmSamplingCounterDataImageInitialize"),
	ROW(start, "PmSamplingStart"),
	ROW(stop, "PmSamplingStop"),
	ROW(decode, "PmSamplingDecodeData"),
	ROW(get_data_info, "PmSamplingGetCounterDataInfo"),
	ROW(get_sample, "PmSamplingCounterDataGetSampleInfo"),
};

#define PATH_BYTES 1024

/* The host library stays open, so that CUPTI finds it by its name. */
static int open_host_library(void *handle)
{
	char path[PATH_BYTES];
	const struct link_map *map = NULL;
	const char *end;

	if (dlopen(PM_HOST_LIBRARY, RTLD_NOW | RTLD_LOCAL))
		return 0;
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) || !map)
		return -ENOENT;
	end = strrchr(map->l_name, '/');
	if (!end)
		return -ENOENT;
	snprintf(path, sizeof path, "%.*s/" PM_HOST_LIBRARY, (int)(end - map->l_name), map->l_name);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL) ? 0 : -ENOENT;
}

int pm_cupti_bind(struct pm_cupti *out, void *handle)
{
	for (size_t i = 0; i < sizeof sampling_functions / sizeof sampling_functions[0]; i++) {
		void *found = dlsym(handle, sampling_functions[i].name);

		if (!found)
			return -ENOSYS;
		memcpy((char *)out + sampling_functions[i].offset, &found, sizeof found);
	}
	return open_host_library(handle);
}
