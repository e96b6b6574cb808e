/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libnvidia-ml.so.1 with two devices, by NVIDIA's documentation. Its declarations are written
 * apart from ours, so that neither copies the other.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/fake_nvml.h"

#define INVALID_ARGUMENT 2
#define NOT_SUPPORTED 3
#define INSUFFICIENT_SIZE 7
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

typedef struct {
	unsigned int version;
	int sensor;
	int temperature;
} temperature_reading;

typedef struct {
	unsigned int pid;
	unsigned long long used_memory;
	unsigned int gpu_instance, compute_instance;
} process_info;

typedef struct {
	unsigned int version, is_supported;
} gpm_support;

typedef struct gpm_sample_data {
	struct timespec at;
	bool is_taken;
} * gpm_sample;

typedef struct {
	unsigned int metric_id;
	int nvml_return;
	double value;
	struct {
		char *short_name, *long_name, *unit;
	} metric_info;
} gpm_metric;

typedef struct {
	unsigned int version, num_metrics;
	gpm_sample sample1, sample2;
	gpm_metric metrics[333];
} gpm_metrics_get;

static struct device devices[2] = {{0}, {1}};

/* The build hides all symbols that are not marked as visible. */
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
int nvmlDeviceGetTemperatureV(device_handle device, temperature_reading *out);
int nvmlDeviceGetClockInfo(device_handle device, int kind, unsigned int *mhz);
int nvmlDeviceGetUUID(device_handle device, char *uuid, unsigned int n);
int nvmlDeviceGetComputeRunningProcesses_v3(
	device_handle device, unsigned int *n, process_info *out);
int nvmlDeviceGetGraphicsRunningProcesses_v3(
	device_handle device, unsigned int *n, process_info *out);
int nvmlGpmQueryDeviceSupport(device_handle device, gpm_support *support);
int nvmlGpmSampleAlloc(gpm_sample *sample);
int nvmlGpmSampleFree(gpm_sample sample);
int nvmlGpmSampleGet(device_handle device, gpm_sample sample);
int nvmlGpmMetricsGet(gpm_metrics_get *metrics);
int nvmlDeviceGetPersistenceMode(device_handle device, int *mode);
int nvmlDeviceGetMigMode(device_handle device, unsigned int *mode, unsigned int *pending);
extern atomic_int fake_nvml_max_users;
extern atomic_int fake_nvml_n_starts;
#pragma GCC visibility pop

atomic_int fake_nvml_max_users;
atomic_int fake_nvml_n_starts;
static atomic_int n_users;
static atomic_int n_gpm_samples;

static int read_number(const char *name, int otherwise)
{
	const char *text = getenv(name);

	return text ? atoi(text) : otherwise;
}

static void hang_while_there_is(const char *variable)
{
	const char *path = getenv(variable);

	while (path && access(path, F_OK) == 0)
		usleep(1000);
}

int nvmlInit_v2(void)
{
	int r = read_number(FAKE_NVML_INIT, 0);
	int n;

	hang_while_there_is(FAKE_NVML_INIT_HANGS);
	if (r)
		return r;
	n = atomic_fetch_add(&n_users, 1) + 1;
	atomic_fetch_add(&fake_nvml_n_starts, 1);
	if (n > atomic_load(&fake_nvml_max_users))
		atomic_store(&fake_nvml_max_users, n);
	return 0;
}

int nvmlShutdown(void)
{
	if (atomic_fetch_sub(&n_users, 1) == 1 && atomic_load(&n_gpm_samples))
		abort();
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
	hang_while_there_is(FAKE_NVML_HANGS);
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

#ifndef FAKE_NVML_HOPPER
int nvmlDeviceGetTemperature(device_handle device, int sensor, unsigned int *celsius)
{
	(void)device;
	*celsius = sensor == 0 ? 61 : 0;
	return 0;
}
#else
int nvmlDeviceGetTemperatureV(device_handle device, temperature_reading *out)
{
	(void)device;
	if (out->version != (sizeof *out | 1u << 24) || out->sensor)
		return INVALID_ARGUMENT;
	out->temperature = 61;
	return 0;
}

int nvmlDeviceGetClockInfo(device_handle device, int kind, unsigned int *mhz)
{
	*mhz = (kind == 1 ? 1980 : 3201) + (unsigned)device->index;
	return kind == 1 || kind == 2 ? 0 : INVALID_ARGUMENT;
}

int nvmlDeviceGetUUID(device_handle device, char *uuid, unsigned int n)
{
	snprintf(uuid, n, "GPU-0000000%d-1111-2222-3333-444444444444", device->index);
	return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(
	device_handle device, unsigned int *n, process_info *out)
{
	int pid = device->index == 1 ? read_number(FAKE_NVML_PID, 0) : 0;
	unsigned int room = *n;

	*n = pid ? 2 : 0;
	if (room < *n)
		return INSUFFICIENT_SIZE;
	if (pid) {
		out[0] = (process_info){.pid = 1, .used_memory = 1};
		out[1] = (process_info){.pid = (unsigned)pid, .used_memory = 2};
	}
	return 0;
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(
	device_handle device, unsigned int *n, process_info *out)
{
	(void)device, (void)out;
	*n = 0;
	return 0;
}

int nvmlDeviceGetPersistenceMode(device_handle device, int *mode)
{
	*mode = device->index == 0;
	return 0;
}

int nvmlDeviceGetMigMode(device_handle device, unsigned int *mode, unsigned int *pending)
{
	*mode = *pending = device->index == 1;
	return 0;
}

int nvmlGpmQueryDeviceSupport(device_handle device, gpm_support *support)
{
	if (support->version != 1)
		return INVALID_ARGUMENT;
	support->is_supported = device->index == 0;
	return 0;
}

int nvmlGpmSampleAlloc(gpm_sample *sample)
{
	*sample = calloc(1, sizeof **sample);
	atomic_fetch_add(&n_gpm_samples, 1);
	return 0;
}

int nvmlGpmSampleFree(gpm_sample sample)
{
	free(sample);
	atomic_fetch_sub(&n_gpm_samples, 1);
	return 0;
}

int nvmlGpmSampleGet(device_handle device, gpm_sample sample)
{
	if (device->index != 0)
		return NOT_SUPPORTED;
	clock_gettime(CLOCK_MONOTONIC, &sample->at);
	sample->is_taken = true;
	return 0;
}

static long long find_ns(struct timespec at)
{
	return (long long)at.tv_sec * 1000000000 + at.tv_nsec;
}

/* The value of a metric is its number plus 0.5. There is no NVLink. */
int nvmlGpmMetricsGet(gpm_metrics_get *get)
{
	if (get->version != 1 || !get->sample1->is_taken || !get->sample2->is_taken)
		return INVALID_ARGUMENT;
	/* The interval between two samples may vary a little. */
	if (find_ns(get->sample2->at) - find_ns(get->sample1->at) < 95000000)
		abort();
	for (unsigned int i = 0; i < get->num_metrics; i++) {
		gpm_metric *metric = &get->metrics[i];

		metric->nvml_return = metric->metric_id >= 60 ? NOT_SUPPORTED : 0;
		metric->value = metric->metric_id + 0.5;
	}
	return 0;
}
#endif
