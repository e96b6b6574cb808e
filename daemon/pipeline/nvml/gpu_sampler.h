/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that samples all devices by NVML while a capture runs. No caller waits for it:
 * gpu_sampler_stop() takes the samples that exist, and the thread ends when the library returns.
 * Only one of the samplers in the server's process uses the library at a time; a second one waits
 * on its own thread.
 */
#ifndef DAEMON_GPU_SAMPLER_H
#define DAEMON_GPU_SAMPLER_H

#include <stdint.h>
#include <sys/types.h>

struct gpu_sampler;
struct gpu_samples;

#define GPU_SAMPLER_WHY_BYTES 256

struct gpu_sampler_config {
	const char *root; /* "", or a test's fake root for /dev/nvidiactl */
	const char *library; /* a path, or NULL for the system's */
	int64_t interval_ns;
};

/* NULL: no NVIDIA driver, or no memory. Only the new thread opens the library. */
struct gpu_sampler *gpu_sampler_start(const struct gpu_sampler_config *config);

/*
 * Adds a process of the recording, whose devices are marked (gpu_track.is_used). Only the first 64
 * processes count.
 */
void gpu_sampler_add_process(struct gpu_sampler *s, pid_t pid);

/* Moves the samples to |out|, which is empty, as gpu_samples_cut() does. */
void gpu_sampler_cut(struct gpu_sampler *s, struct gpu_samples *out, int64_t from_ns);

/*
 * Stops the sampler; |s| must not be used afterwards. Moves all samples to |out|, which is empty.
 * |why| (GPU_SAMPLER_WHY_BYTES) becomes a sentence for people when samples are missing, or "".
 */
void gpu_sampler_stop(struct gpu_sampler *s, struct gpu_samples *out, char *why);

#endif
