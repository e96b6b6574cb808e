/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of all devices of a capture, if it wants any. Whatever fails is a warning: the rest is recorded. */
#ifndef PLUGINS_CUDA_COUNTERS_H
#define PLUGINS_CUDA_COUNTERS_H

#include <stdint.h>

#include "lib/plugins/cuda/pm_cupti.h"

struct driver;
struct options;
struct pm_sampler;
struct records;
struct result_context;

struct counters {
	struct pm_cupti cupti;
	struct pm_sampler *samplers;
	int n;
	uint64_t n_gaps;
};

/* |library|: CUPTI's handle. The first |n_devices|. */
void counters_open(struct counters *c, void *library, int n_devices, const struct driver *driver,
	const struct options *options, const struct result_context *context,
	struct records *records);
void counters_start(
	struct counters *c, const struct result_context *context, struct records *records);
/* 0, or what emit() answers. A device of which no more can be read is said, and not asked again. */
int counters_read(
	struct counters *c, const struct result_context *context, struct records *records);
void counters_stop(struct counters *c);
/* Behind CUPTI's last flush: on some versions it ends all of CUPTI. |is_dead|: it has ended itself. */
void counters_close(struct counters *c, int is_dead);

#endif
