/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of a machine's GPUs, in a track for each device. */
#ifndef DAEMON_GPU_SAMPLES_H
#define DAEMON_GPU_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/nvml/gpu_reading.h"

#define GPU_UUID_BYTES 96

struct gpu_sample {
	int64_t at_ns; /* CLOCK_MONOTONIC */
	/* begin of the time that |gpm| covers, which ends at |at_ns|; 0: all of |gpm| is NAN */
	int64_t gpm_since_ns;
	double reading[N_GPU_ROWS]; /* NAN: unknown */
	double gpm[N_GPM_ROWS];
};

struct gpu_track {
	char name[GPU_NAME_BYTES];
	char uuid[GPU_UUID_BYTES]; /* "GPU-" and 32 digits with dashes, or "" */
	bool is_used; /* a process of the recording uses the device */
	struct gpu_sample *v; /* ascending */
	size_t n;
	size_t n_allocated;
};

/* The index of a track is NVML's number of the device, in the order of the PCI bus. */
struct gpu_samples {
	struct gpu_track tracks[GPU_MAX];
	size_t n;
	int error; /* -ENOMEM: samples are missing */
};

/* All zero is empty. */
void gpu_samples_deinit(struct gpu_samples *s);

/*
 * Adds a sample to the track |i|. When all tracks together have 8 MiB, each pair of samples becomes
 * its mean: the time between samples grows, and none is left out.
 */
void gpu_samples_add(struct gpu_samples *s, size_t i, const struct gpu_sample *sample);

/*
 * Moves all samples of |s| to |part|, which is empty; the last one of each track stays in |s|, too,
 * as the first of the next part. Samples before |from_ns| are left out, except for the latest of
 * them.
 * |part->error| is -ENOMEM when samples are missing.
 */
void gpu_samples_cut(struct gpu_samples *s, struct gpu_samples *part, int64_t from_ns);

#endif
