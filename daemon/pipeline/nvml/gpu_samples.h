/* SPDX-License-Identifier: Apache-2.0 */
/* What was sampled of a machine's GPUs, a track a device. */
#ifndef DAEMON_GPU_SAMPLES_H
#define DAEMON_GPU_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/nvml/gpm.h"
#include "daemon/pipeline/nvml/gpu_reading.h"

#define GPU_UUID_BYTES 96

struct gpu_sample {
	int64_t at_ns; /* CLOCK_MONOTONIC */
	int64_t gpm_since_ns; /* what |gpm| are the means from, until |at_ns|; 0: they are all NAN */
	double reading[N_GPU_ROWS]; /* NAN: not known */
	double gpm[N_GPM_ROWS];
};

struct gpu_track {
	char name[GPU_NAME_BYTES];
	char uuid[GPU_UUID_BYTES]; /* "GPU-" and 32 digits with dashes, or "" */
	bool is_used; /* a process of the recording is among the device's */
	struct gpu_sample *v; /* ascending */
	size_t n;
	size_t n_allocated;
};

/* Tracks are by the library's number of the device, which is that of the bus. */
struct gpu_samples {
	struct gpu_track tracks[GPU_MAX];
	size_t n;
	int error; /* -ENOMEM: samples are missing */
};

/* All zero is empty. */
void gpu_samples_deinit(struct gpu_samples *s);

/*
 * Adds a sample to the track |i|. When the tracks together have 8 MiB, each pair of samples becomes one, their mean: the time
 * between two grows, and none is left out.
 */
void gpu_samples_add(struct gpu_samples *s, size_t i, const struct gpu_sample *sample);

/*
 * Moves all of |s| to |part|, which is empty; the last sample of each track stays as the first of what comes. What was before |from_ns| is left out, but the
 * last before it. |part->error| says when something is missing.
 */
void gpu_samples_cut(struct gpu_samples *s, struct gpu_samples *part, int64_t from_ns);

#endif
