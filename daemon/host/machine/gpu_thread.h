/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that asks NVML: nobody else waits for a driver. It asks when it is told to, once, and the answer is there for whoever looks later. It
 * outlives gpu_thread_stop() where a call does not come back.
 */
#ifndef DAEMON_GPU_THREAD_H
#define DAEMON_GPU_THREAD_H

#include <stdint.h>

#include "daemon/pipeline/nvml/gpu_reading.h"

struct gpu_reading {
	char name[GPU_NAME_BYTES];
	double values[N_GPU_ROWS]; /* NAN: the device does not tell */
};

struct gpu_readings {
	int64_t at_ns; /* CLOCK_MONOTONIC; 0: never */
	unsigned n;
	struct gpu_reading v[GPU_MAX];
};

struct gpu_thread;

/* |library| as in nvml_open(). NULL: there are no GPUs to ask, or no memory. */
struct gpu_thread *gpu_thread_start(const char *library);
/* NULL ok. Waits for a call that is under way, a second at most. */
void gpu_thread_stop(struct gpu_thread *t);

/* What was heard last; asks for more. Does not wait. */
void gpu_thread_take(struct gpu_thread *t, struct gpu_readings *out);

#endif
