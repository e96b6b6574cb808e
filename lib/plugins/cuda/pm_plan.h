/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of counters, and a plan to sample them on one kind of GPU. CUPTI's host API makes the
 * plan, without a device and without special permissions. Sampling has one pass only: metrics that
 * the chip does not know, or that do not fit into that pass, are removed from the list and
 * reported.
 */
#ifndef PLUGINS_CUDA_PM_PLAN_H
#define PLUGINS_CUDA_PM_PLAN_H

#include <stddef.h>
#include <stdint.h>

struct pm_cupti;

#define PM_LIST_MAX 64u
#define PM_LIST_BYTES 4096u

struct pm_list {
	char text[PM_LIST_BYTES];
	const char *names[PM_LIST_MAX]; /* pointers into |text| */
	size_t n;
};

/*
 * Reads |option|, a comma-separated list: at most PM_LIST_MAX names, each only if it fits uncut
 * into what is left of PM_LIST_BYTES. The word "default" stands for a set that fits into one pass
 * of an H100. Returns the number of names that were left out.
 */
size_t pm_list_read(struct pm_list *l, const char *option);

/* Removes the |i|th name. */
void pm_list_remove(struct pm_list *l, size_t i);

struct pm_plan {
	const struct pm_cupti *cupti;
	void *host; /* the host object, which evaluates samples */
	uint8_t *image;
	size_t image_bytes;
};

/* The chip of a plan, and the callback for metrics that are left out of it. */
struct pm_chip_context {
	const char *chip;
	const uint8_t *availability; /* CUPTI's image of available counters; NULL: all */
	void (*left_out)(void *context, const char *metric, const char *why);
	void *context;
};

/*
 * Returns enum cupti_result; CUPTI_INVALID_METRIC_NAME: the chip cannot sample any of the metrics
 * in one pass.
 */
int pm_plan_open(struct pm_plan *p, const struct pm_cupti *cupti,
	const struct pm_chip_context *chip, struct pm_list *list);
void pm_plan_close(struct pm_plan *p);

#endif
