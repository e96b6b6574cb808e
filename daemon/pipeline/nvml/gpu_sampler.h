/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that asks NVML of all devices while a capture runs. Nobody ever waits for it: who stops it takes what there is, and the thread ends when the
 * library lets it. There is one at a time in a process: a second one waits, on its own thread, until the library is free.
 */
#ifndef DAEMON_GPU_SAMPLER_H
#define DAEMON_GPU_SAMPLER_H

#include <stdint.h>
#include <sys/types.h>

struct gpu_sampler;
struct gpu_samples;

#define GPU_SAMPLER_WHY_BYTES 256

struct gpu_sampler_config {
	const char *root; /* "", or a test's fake root; of /dev/nvidiactl */
	const char *library; /* a path, or NULL for the system's */
	int64_t interval_ns;
};

/* NULL: there is no driver of NVIDIA's here, or no memory. Opens nothing on this thread. */
struct gpu_sampler *gpu_sampler_start(const struct gpu_sampler_config *config);

/* A process of the recording: devices that it uses are marked (gpu_track.is_used). Of very many the first ones count. */
void gpu_sampler_add_process(struct gpu_sampler *s, pid_t pid);

/* Moves what there is to |out|, which is empty, as gpu_samples_cut() does. */
void gpu_sampler_cut(struct gpu_sampler *s, struct gpu_samples *out, int64_t from_ns);

/*
 * Ends it: |s| is not to be used any more. All that there is goes to |out|, which is empty. |why| (GPU_SAMPLER_WHY_BYTES) is a sentence when something is
 * missing, for people, or "".
 */
void gpu_sampler_stop(struct gpu_sampler *s, struct gpu_samples *out, char *why);

#endif
