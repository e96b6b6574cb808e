/* SPDX-License-Identifier: Apache-2.0 */
/* Compares our declarations of NVML with NVIDIA's header; see nvidia. */
#include "tests/compile/nvidia.hpp"

#include <nvml.h>

namespace ours
{
#include "daemon/pipeline/nvml/gpu_samples.h"
#include "daemon/pipeline/nvml/nvml.h"
enum {
	TEMPERATURE_VERSION = NVML_TEMPERATURE_VERSION
};
} // namespace ours

SIZE(nvml_utilization, nvmlUtilization_t);
FIELD(nvml_utilization, gpu, nvmlUtilization_t, gpu);
FIELD(nvml_utilization, memory, nvmlUtilization_t, memory);
SIZE(nvml_memory, nvmlMemory_t);
FIELD(nvml_memory, total, nvmlMemory_t, total);
FIELD(nvml_memory, free, nvmlMemory_t, free);
FIELD(nvml_memory, used, nvmlMemory_t, used);
SIZE(nvml_process, nvmlProcessInfo_t);
FIELD(nvml_process, pid, nvmlProcessInfo_t, pid);
FIELD(nvml_process, used, nvmlProcessInfo_t, usedGpuMemory);
SIZE(nvml_gpm_support, nvmlGpmSupport_t);
FIELD(nvml_gpm_support, is_supported, nvmlGpmSupport_t, isSupportedDevice);
SIZE(nvml_gpm_metric, nvmlGpmMetric_t);
FIELD(nvml_gpm_metric, id, nvmlGpmMetric_t, metricId);
FIELD(nvml_gpm_metric, error, nvmlGpmMetric_t, nvmlReturn);
FIELD(nvml_gpm_metric, value, nvmlGpmMetric_t, value);
FIELD(nvml_gpm_metrics, n, nvmlGpmMetricsGet_t, numMetrics);
FIELD(nvml_gpm_metrics, from, nvmlGpmMetricsGet_t, sample1);
FIELD(nvml_gpm_metrics, to, nvmlGpmMetricsGet_t, sample2);
EQUAL(offsetof(ours::nvml_gpm_metrics, v), offsetof(nvmlGpmMetricsGet_t, metrics));
/* Older headers lack the newer call. */
#ifdef nvmlTemperature_v1
SIZE(nvml_temperature, nvmlTemperature_t);
FIELD(nvml_temperature, sensor, nvmlTemperature_t, sensorType);
FIELD(nvml_temperature, celsius, nvmlTemperature_t, temperature);
NUMBER(TEMPERATURE_VERSION, nvmlTemperature_v1);
#endif

NUMBER(NVML_OK, NVML_SUCCESS);
NUMBER(NVML_INSUFFICIENT_SIZE, NVML_ERROR_INSUFFICIENT_SIZE);
NUMBER(NVML_SENSOR_GPU, NVML_TEMPERATURE_GPU);
NUMBER(NVML_CLOCK_SM, NVML_CLOCK_SM);
NUMBER(NVML_CLOCK_MEMORY, NVML_CLOCK_MEM);
EQUAL(NVML_GPM_VERSION, NVML_GPM_METRICS_GET_VERSION);
EQUAL(NVML_GPM_VERSION, NVML_GPM_SUPPORT_VERSION);
EQUAL(GPU_UUID_BYTES >= NVML_DEVICE_UUID_V2_BUFFER_SIZE, true);
EQUAL(NVML_GPM_METRICS >= NVML_GPM_METRIC_MAX, true);
NUMBER(NVML_GPM_SM_ACTIVE, NVML_GPM_METRIC_SM_UTIL);
NUMBER(NVML_GPM_SM_OCCUPANCY, NVML_GPM_METRIC_SM_OCCUPANCY);
NUMBER(NVML_GPM_TENSOR_ACTIVE, NVML_GPM_METRIC_ANY_TENSOR_UTIL);
NUMBER(NVML_GPM_DRAM_ACTIVE, NVML_GPM_METRIC_DRAM_BW_UTIL);
NUMBER(NVML_GPM_PCIE_TX, NVML_GPM_METRIC_PCIE_TX_PER_SEC);
NUMBER(NVML_GPM_PCIE_RX, NVML_GPM_METRIC_PCIE_RX_PER_SEC);
NUMBER(NVML_GPM_NVLINK_RX, NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC);
NUMBER(NVML_GPM_NVLINK_TX, NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC);

FUNCTION(nvml, init, nvmlInit_v2);
FUNCTION(nvml, shutdown, nvmlShutdown);
FUNCTION(nvml, count, nvmlDeviceGetCount_v2);
FUNCTION(nvml, find, nvmlDeviceGetHandleByIndex_v2);
FUNCTION(nvml, name, nvmlDeviceGetName);
FUNCTION(nvml, describe, nvmlErrorString);
FUNCTION(nvml, uuid, nvmlDeviceGetUUID);
FUNCTION(nvml, utilization, nvmlDeviceGetUtilizationRates);
FUNCTION(nvml, memory, nvmlDeviceGetMemoryInfo);
FUNCTION(nvml, power, nvmlDeviceGetPowerUsage);
FUNCTION(nvml, temperature, nvmlDeviceGetTemperature);
#ifdef nvmlTemperature_v1
FUNCTION(nvml, temperature_v, nvmlDeviceGetTemperatureV);
#endif
FUNCTION(nvml, clock, nvmlDeviceGetClockInfo);
FUNCTION(nvml, compute, nvmlDeviceGetComputeRunningProcesses_v3);
FUNCTION(nvml, graphics, nvmlDeviceGetGraphicsRunningProcesses_v3);
FUNCTION(nvml, gpm_ask, nvmlGpmQueryDeviceSupport);
FUNCTION(nvml, gpm_new, nvmlGpmSampleAlloc);
FUNCTION(nvml, gpm_free, nvmlGpmSampleFree);
FUNCTION(nvml, gpm_take, nvmlGpmSampleGet);
FUNCTION(nvml, gpm_compare, nvmlGpmMetricsGet);
