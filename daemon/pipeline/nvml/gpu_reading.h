/* SPDX-License-Identifier: Apache-2.0 */
/* NVML's readings of one device at one moment. */
#ifndef DAEMON_GPU_READING_H
#define DAEMON_GPU_READING_H

struct nvml;
struct nvml_device;

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

#endif
