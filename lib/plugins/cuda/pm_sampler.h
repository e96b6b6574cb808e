/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of one device, sampled by its hardware at an interval and fetched now and then. */
#ifndef PLUGINS_CUDA_PM_SAMPLER_H
#define PLUGINS_CUDA_PM_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "lib/plugins/cuda/pm_list.h"
#include "lib/plugins/cuda/pm_plan.h"

struct driver;
struct pm_cupti;
struct records;

struct pm_sampler {
	const struct pm_cupti *cupti;
	uint16_t device;
	struct pm_list list; /* what is left of what was asked for */
	uint32_t names[PM_LIST_MAX]; /* numbers of them, by records' names */
	struct pm_plan plan;
	uint8_t *availability;
	void *sampling; /* NULL: not enabled */
	uint8_t *data;
	size_t data_bytes;
	int is_running;
	uint64_t n_read; /* samples */
	uint64_t n_gaps; /* the hardware's buffer was full */
};

struct pm_wish {
	const char *counters;
	uint64_t interval_ns;
	uint64_t buffer_bytes;
	/* As long as this version of CUPTI has them. */
	size_t support_bytes;
	size_t set_config_bytes;
	void (*left_out)(void *context, const char *metric, const char *why);
	void *context;
};

/* All answer enum cupti_result. What was opened is closed by pm_sampler_close(), also when that failed. */
int pm_sampler_open(struct pm_sampler *s, const struct pm_cupti *cupti, const struct driver *driver,
	uint16_t device, const struct pm_wish *wish);
int pm_sampler_start(struct pm_sampler *s);
/* Hands on what there is. |*code| is what emit() answers, when that is not 0. */
int pm_sampler_read(struct pm_sampler *s, struct records *records, int *code);
int pm_sampler_stop(struct pm_sampler *s);
/* |is_dead|: CUPTI has ended itself, and is not asked. */
void pm_sampler_close(struct pm_sampler *s, int is_dead);

#endif
