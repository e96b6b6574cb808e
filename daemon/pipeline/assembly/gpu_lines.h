/* SPDX-License-Identifier: Apache-2.0 */
/* From samples of GPUs to counters in their planes, "/device:GPU:N". */
#ifndef DAEMON_GPU_LINES_H
#define DAEMON_GPU_LINES_H

#include <stdint.h>
#include <sys/types.h>

struct gpu_samples;
struct space;

/*
 * The recording ran from |start_ns| to |stop_ns| (CLOCK_MONOTONIC). Planes that say their UUID (daemon/pipeline/devices/device_plane.h) get the counters of that device. Where none
 * is found so, a device that a process of the recording uses has the plane of its own number, which is made if there is none; so have all when none is known to
 * be used. A plane that is made here is of the process |pid|. A mean stands at the beginning of the time that it was measured over, and the last one again at its end. 0 or -ENOMEM.
 */
int gpu_lines_add(const struct gpu_samples *samples, int64_t start_ns, int64_t stop_ns, pid_t pid,
	struct space *space);

#endif
