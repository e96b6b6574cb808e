/* SPDX-License-Identifier: Apache-2.0 */
/* Samples the usage of a recording's processes (usage.h), and of their GPUs by NVML on a thread of its own. */
#ifndef DAEMON_RECORDING_USAGE_H
#define DAEMON_RECORDING_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/nvml/gpu_sampler.h"
#include "daemon/pipeline/nvml/gpu_samples.h"

struct recording;
struct space;

/* Begins for the sources from |first| on, while there are descriptors. Counts the processes without. */
void recording_usage_begin(struct recording *r, size_t first);

/* Samples some processes at each visit, one after the other. */
void recording_usage_visit(struct recording *r);

/* Takes the last samples. Sets |r->error| when memory ran out. */
void recording_usage_end(struct recording *r);

struct recording_gpus {
	struct gpu_sampler_config config; /* .interval_ns 0: nothing is sampled; set after init */
	struct gpu_sampler
		*sampler; /* NULL: no process uses a GPU yet, there is no driver, or it has ended */
	bool is_tried; /* it was tried to start the sampler */
	size_t n_told; /* processes that the sampler knows */
	struct gpu_samples samples; /* all of them after the end; those of a part */
	char why[GPU_SAMPLER_WHY_BYTES]; /* the reason when samples are missing, or "" */
};

/* Called often from arming to the end: begins when a process uses a GPU. */
void recording_gpus_visit(struct recording *r);
/* Does nothing the second time. */
void recording_gpus_end(struct recording *r);
/* Works as usage_cut(); |part| is a copy of |r|. part->gpus.samples.error says when samples are missing. */
void recording_gpus_cut(struct recording *r, struct recording *part, int64_t from_ns);
void recording_gpus_deinit(struct recording *r);

/* Adds a warning when samples are missing. 0 or -ENOMEM. */
int recording_gpus_add_warning(const struct recording *r, struct space *space);

#endif
