/* SPDX-License-Identifier: Apache-2.0 */
/* Makes counters in the planes of GPUs, "/device:GPU:N", from samples. */
#ifndef DAEMON_GPU_LINES_H
#define DAEMON_GPU_LINES_H

#include <stdint.h>
#include <sys/types.h>

struct gpu_samples;
struct space;

/*
 * The recording ran from |start_ns| to |stop_ns| (CLOCK_MONOTONIC). Planes with a UUID
 * (daemon/pipeline/devices/device_plane.h) get the counters of that device. If no device is found
 * in this way, each device that a process of the recording uses gets the plane of its own number,
 * or each device at all if none is known to be used. If such a plane does not exist, it is made
 * with the process |pid|. A mean stands at the beginning of the time over which it was measured;
 * the last mean stands at its end, too. 0 or -ENOMEM.
 */
int gpu_lines_add(const struct gpu_samples *samples, int64_t start_ns, int64_t stop_ns, pid_t pid,
	struct space *space);

#endif
