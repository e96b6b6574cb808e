/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the counters of a list are had from a kind of GPU: CUPTI's host API, which needs no device and no rights. What the chip does not
 * know, and what does not fit into one pass, is taken out of the list and named: sampling has one pass only.
 */
#ifndef PLUGINS_CUDA_PM_PLAN_H
#define PLUGINS_CUDA_PM_PLAN_H

#include <stddef.h>
#include <stdint.h>

struct pm_cupti;
struct pm_list;

struct pm_plan {
	const struct pm_cupti *cupti;
	void *host; /* evaluates what was sampled */
	uint8_t *image;
	size_t image_bytes;
};

/* Where and with what. */
struct pm_chip_context {
	const char *chip;
	const uint8_t *availability; /* NULL: all */
	void (*left_out)(void *context, const char *metric, const char *why);
	void *context;
};

/* Returns enum cupti_result; CUPTI_INVALID_METRIC_NAME: nothing is left of the list. */
int pm_plan_open(struct pm_plan *p, const struct pm_cupti *cupti,
	const struct pm_chip_context *chip, struct pm_list *list);
void pm_plan_close(struct pm_plan *p);

#endif
