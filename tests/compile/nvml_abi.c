/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares our declarations of NVML with NVIDIA's: tests/compile/nvml compiles this file if the
 * header is there.
 */
#include <assert.h>
#include <stddef.h>

#include <nvml.h>

/* A name that both headers define. */
#define NVML_CLOCK_SM OUR_CLOCK_SM
#include "daemon/pipeline/nvml/gpu_samples.h"
#include "daemon/pipeline/nvml/nvml.h"
#undef NVML_CLOCK_SM

#define SAME(ours, theirs) static_assert(sizeof(struct ours) == sizeof(theirs), #theirs)
#define AT(ours, field, theirs, their_field)                                                     \
	static_assert(                                                                           \
		offsetof(struct ours, field) == offsetof(theirs, their_field) &&                 \
			sizeof(((struct ours *)0)->field) == sizeof(((theirs *)0)->their_field), \
		#theirs "." #their_field)
#define EQUAL(ours, theirs) static_assert((long)(ours) == (long)(theirs), #theirs)

SAME(nvml_utilization, nvmlUtilization_t);
AT(nvml_utilization, gpu, nvmlUtilization_t, gpu);
AT(nvml_utilization, memory, nvmlUtilization_t, memory);
SAME(nvml_memory, nvmlMemory_t);
AT(nvml_memory, total, nvmlMemory_t, total);
AT(nvml_memory, free, nvmlMemory_t, free);
AT(nvml_memory, used, nvmlMemory_t, used);
SAME(nvml_process, nvmlProcessInfo_t);
AT(nvml_process, pid, nvmlProcessInfo_t, pid);
AT(nvml_process, used, nvmlProcessInfo_t, usedGpuMemory);
SAME(nvml_gpm_support, nvmlGpmSupport_t);
AT(nvml_gpm_support, is_supported, nvmlGpmSupport_t, isSupportedDevice);
SAME(nvml_gpm_metric, nvmlGpmMetric_t);
AT(nvml_gpm_metric, id, nvmlGpmMetric_t, metricId);
AT(nvml_gpm_metric, error, nvmlGpmMetric_t, nvmlReturn);
AT(nvml_gpm_metric, value, nvmlGpmMetric_t, value);
AT(nvml_gpm_metrics, n, nvmlGpmMetricsGet_t, numMetrics);
AT(nvml_gpm_metrics, from, nvmlGpmMetricsGet_t, sample1);
AT(nvml_gpm_metrics, to, nvmlGpmMetricsGet_t, sample2);
static_assert(
	offsetof(struct nvml_gpm_metrics, v) == offsetof(nvmlGpmMetricsGet_t, metrics), "metrics");
/* Older headers have not got the newer call. */
#ifdef nvmlTemperature_v1
SAME(nvml_temperature, nvmlTemperature_t);
AT(nvml_temperature, sensor, nvmlTemperature_t, sensorType);
AT(nvml_temperature, celsius, nvmlTemperature_t, temperature);
EQUAL(NVML_TEMPERATURE_VERSION, nvmlTemperature_v1);
#endif

EQUAL(NVML_OK, NVML_SUCCESS);
EQUAL(NVML_INSUFFICIENT_SIZE, NVML_ERROR_INSUFFICIENT_SIZE);
EQUAL(NVML_SENSOR_GPU, NVML_TEMPERATURE_GPU);
EQUAL(OUR_CLOCK_SM, NVML_CLOCK_SM);
EQUAL(NVML_CLOCK_MEMORY, NVML_CLOCK_MEM);
EQUAL(NVML_GPM_VERSION, NVML_GPM_METRICS_GET_VERSION);
EQUAL(NVML_GPM_VERSION, NVML_GPM_SUPPORT_VERSION);
static_assert(GPU_UUID_BYTES >= NVML_DEVICE_UUID_V2_BUFFER_SIZE, "UUID");
static_assert(NVML_GPM_METRICS >= NVML_GPM_METRIC_MAX, "GPM");

/* The numbers of daemon/pipeline/nvml/gpu_reading.c. */
EQUAL(2, NVML_GPM_METRIC_SM_UTIL);
EQUAL(3, NVML_GPM_METRIC_SM_OCCUPANCY);
EQUAL(5, NVML_GPM_METRIC_ANY_TENSOR_UTIL);
EQUAL(10, NVML_GPM_METRIC_DRAM_BW_UTIL);
EQUAL(20, NVML_GPM_METRIC_PCIE_TX_PER_SEC);
EQUAL(21, NVML_GPM_METRIC_PCIE_RX_PER_SEC);
EQUAL(60, NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC);
EQUAL(61, NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC);
