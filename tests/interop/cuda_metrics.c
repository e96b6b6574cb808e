/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the real host API for a list of counters on a chip, without a device. usage: cuda_metrics
 * LIBCUPTI CHIP LIST. Prints one line for each counter that is left out, and the number of sampled
 * ones.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "lib/plugins/cuda/pm_cupti.h"
#include "lib/plugins/cuda/pm_plan.h"

static void left_out(void *context, const char *metric, const char *why)
{
	(void)context;
	printf("left out: %s: %s\n", metric, why);
}

int main(int argc, char **argv)
{
	struct pm_initialize initialize = {.size = PM_SIZE(pm_initialize, reserved)};
	struct pm_chip_context chip = {.chip = argc > 2 ? argv[2] : NULL, .left_out = left_out};
	struct pm_cupti cupti;
	struct pm_plan plan;
	struct pm_list list;
	void *library = argc == 4 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int result;

	if (!library || pm_cupti_bind(&cupti, library)) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	pm_list_read(&list, argv[3]);
	cupti.initialize(&initialize);
	result = pm_plan_open(&plan, &cupti, &chip, &list);
	if (!result)
		pm_plan_close(&plan);
	printf("result %d, %zu sampled\n", result, list.n);
	return 0;
}
