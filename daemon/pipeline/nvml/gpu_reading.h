/* SPDX-License-Identifier: Apache-2.0 */
/* NVML's readings of one device at one moment. */
#ifndef DAEMON_GPU_READING_H
#define DAEMON_GPU_READING_H

#include <stdint.h>

struct nvml;
struct nvml_device;
struct nvml_gpm_sample;

/* The most devices that are read. */
#define GPU_MAX 16
#define GPU_NAME_BYTES 64

enum {
	GPU_BUSY, /* % */
	GPU_MEMORY_USED, /* bytes */
	GPU_MEMORY_BUSY, /* % */
	GPU_POWER, /* W */
	GPU_TEMPERATURE, /* degrees Celsius */
	GPU_CLOCK, /* MHz, of the multiprocessors */
	GPU_MEMORY_TOTAL, /* bytes */
	GPU_MEMORY_CLOCK, /* MHz */
	N_GPU_ROWS
};

/* Takes all readings; NAN for those that the device does not have. */
void gpu_reading_take(
	const struct nvml *nvml, struct nvml_device *device, double values[N_GPU_ROWS]);
/* Sets the readings of a device that does not answer. */
void gpu_reading_clear(double values[N_GPU_ROWS]);

/* Reads the device's model, or "". */
void gpu_read_name(const struct nvml *nvml, struct nvml_device *device, char name[GPU_NAME_BYTES]);

/*
 * Counters of a device's hardware, from Hopper on: means over the time between two GPM samples
 * (|samples|). The driver refreshes them every 100 ms. They need no rights, no context, and no
 * code in the program.
 */

enum {
	GPM_SM_ACTIVE, /* %, also for the three below */
	GPM_SM_OCCUPANCY,
	GPM_TENSOR_ACTIVE,
	GPM_DRAM_ACTIVE,
	GPM_PCIE_TX, /* MiB/s from the device; all below are MiB/s */
	GPM_PCIE_RX,
	GPM_NVLINK_TX,
	GPM_NVLINK_RX,
	N_GPM_ROWS
};

struct gpm {
	const struct nvml *nvml; /* borrowed */
	struct nvml_device *device; /* NULL: it has no such counters */
	struct nvml_gpm_sample *samples[2];
	int newest; /* index of the newest of |samples| */
	int64_t at_ns; /* of the newest sample; 0: there is none */
};

/* The caller must close it, also when the device has no such counters. */
void gpm_open(struct gpm *g, const struct nvml *nvml, struct nvml_device *device);
void gpm_close(struct gpm *g); /* all zero is closed */

/*
 * Takes a GPM sample if the last one is 100 ms or more older than |now_ns| (CLOCK_MONOTONIC).
 * Returns 1 when |values| are the means since *since_ns, with NAN for values that the device does
 * not have. Otherwise returns 0, and all values are NAN.
 */
int gpm_read(struct gpm *g, int64_t now_ns, double values[N_GPM_ROWS], int64_t *since_ns);

#endif
