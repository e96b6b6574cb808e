/* SPDX-License-Identifier: Apache-2.0 */
/* What sampling counters needs of CUPTI; see pm_cupti.h. */
#include "lib/plugins/cuda/pm_cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define ROW(member, name)                                       \
	{                                                       \
		offsetof(struct pm_cupti, member), "cupti" name \
	}

static const struct {
	size_t offset;
	const char *name;
} functions[] = {
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

int pm_cupti_bind(struct pm_cupti *out, void *handle)
{
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
		void *found = dlsym(handle, functions[i].name);

		if (!found)
			return -ENOSYS;
		memcpy((char *)out + functions[i].offset, &found, sizeof found);
	}
	return 0;
}
