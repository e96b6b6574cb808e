/* SPDX-License-Identifier: Apache-2.0 */
/* Which counters are sampled: gpu_pm_sample_counters, a list of metrics of CUPTI's, or |default|. */
#ifndef PLUGINS_CUDA_PM_LIST_H
#define PLUGINS_CUDA_PM_LIST_H

#include <stddef.h>

#define PM_LIST_MAX 64u
#define PM_LIST_BYTES 4096u

struct pm_list {
	char text[PM_LIST_BYTES];
	const char *names[PM_LIST_MAX]; /* in |text| */
	size_t n;
};

/*
 * Of |option|, a list with commas, the first PM_LIST_MAX, as far as whole names of it fit into PM_LIST_BYTES. The word |default| stands
 * for a set that fits into one pass of an H100. How many names there are beyond these.
 */
size_t pm_list_read(struct pm_list *l, const char *option);

/* Without the |i|th. */
void pm_list_remove(struct pm_list *l, size_t i);

#endif
