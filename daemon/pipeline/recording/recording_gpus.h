/* SPDX-License-Identifier: Apache-2.0 */
/* What the GPUs of a recording's processes do, by NVML, sampled by a thread of its own while it runs. */
#ifndef DAEMON_RECORDING_GPUS_H
#define DAEMON_RECORDING_GPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/nvml/gpu_sampler.h"
#include "daemon/pipeline/nvml/gpu_samples.h"

struct recording;
struct space;

struct recording_gpus {
	struct gpu_sampler_config config; /* .interval_ns 0: nothing is sampled; set after init */
	struct gpu_sampler *
		sampler; /* NULL: no process was seen to use a GPU yet, there is no driver, or it is over */
	bool is_tried; /* to start it */
	size_t n_told; /* processes that the sampler knows */
	struct gpu_samples samples; /* of what is over, or of a part */
	char why[GPU_SAMPLER_WHY_BYTES]; /* something is missing, or "" */
};

/* From the moment that it is armed until it ends, often: begins when a process is seen to use a GPU. */
void recording_gpus_visit(struct recording *r);
/* Nothing the second time. */
void recording_gpus_end(struct recording *r);
/* As usage_cut() does it; |part| is a copy of |r|. part->gpus.samples.error says when something is missing. */
void recording_gpus_cut(struct recording *r, struct recording *part, int64_t from_ns);
void recording_gpus_deinit(struct recording *r);

/* What is missing. 0 or -ENOMEM. */
int recording_gpus_add_warning(const struct recording *r, struct space *space);

#endif
