/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of all devices of a capture, if it wants any. A failure is only a warning: the rest
 * is recorded.
 */
#ifndef PLUGINS_CUDA_COUNTERS_H
#define PLUGINS_CUDA_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/plugins/cuda/pm_cupti.h"

struct driver;
struct options;
struct pm_sampler;
struct records;
struct result_context;

struct cuda_counters {
	struct pm_cupti cupti;
	struct pm_sampler *samplers;
	int n;
	uint64_t n_gaps;
};

/* Opens the counters of the first |n_devices|. |library| is CUPTI's handle. */
void counters_open(struct cuda_counters *c, void *library, int n_devices,
	const struct driver *driver, const struct options *options,
	const struct result_context *context, struct records *records);
void counters_start(
	struct cuda_counters *c, const struct result_context *context, struct records *records);
/* Returns 0, or the result of emit(). A device that fails gets a warning, and is not read again. */
int counters_read(
	struct cuda_counters *c, const struct result_context *context, struct records *records);
void counters_stop(struct cuda_counters *c);
/*
 * Called after CUPTI's last flush: in some versions, turning the counters off ends all of CUPTI.
 * |is_dead|: CUPTI has ended itself.
 */
void counters_close(struct cuda_counters *c, bool is_dead);

#endif
