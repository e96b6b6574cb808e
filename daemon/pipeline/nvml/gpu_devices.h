/* SPDX-License-Identifier: Apache-2.0 */
/* The devices that NVML has, found once and read often. */
#ifndef DAEMON_GPU_DEVICES_H
#define DAEMON_GPU_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/pipeline/nvml/gpu_reading.h"
#include "daemon/pipeline/nvml/gpu_samples.h"
#include "daemon/pipeline/nvml/nvml.h"

struct gpu_device {
	struct nvml_device *handle; /* NULL: the device is lost, and keeps its number */
	struct gpm gpm;
};

struct gpu_devices {
	struct nvml nvml;
	bool is_started;
	struct gpu_device v[GPU_MAX];
	size_t n;
};

/*
 * Opens the library as nvml_open() does, and finds devices. 0; -ENOENT or -ENOSYS as there; -EIO
 * when it does not start, with the reason in |said| (|n| bytes).
 */
int gpu_devices_open(struct gpu_devices *d, const char *library, char *said, size_t n);
void gpu_devices_close(struct gpu_devices *d); /* all zero is closed */

/* Sets the name and UUID of the device |i|. */
void gpu_devices_describe(const struct gpu_devices *d, size_t i, struct gpu_track *out);
/* Reads a device that is not lost. */
void gpu_devices_read(struct gpu_devices *d, size_t i, struct gpu_sample *out);
/* True when one of |pids| is among the processes of the device |i|. */
bool gpu_devices_has_process(
	const struct gpu_devices *d, size_t i, const pid_t *pids, size_t n_pids);

#endif
