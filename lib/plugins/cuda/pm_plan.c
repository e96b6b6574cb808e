/* SPDX-License-Identifier: Apache-2.0 */
/* How counters are had from a kind of GPU; see pm_plan.h. */
#include "lib/plugins/cuda/pm_plan.h"

#include <stdlib.h>
#include <string.h>

#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/pm_cupti.h"
#include "lib/plugins/cuda/pm_list.h"

static int open_host(struct pm_plan *p, const struct pm_chip_context *chip)
{
	struct pm_host open = {
		.size = PM_SIZE(pm_host, host),
		.profiler = PM_PROFILER,
		.chip = chip->chip,
		.availability = chip->availability,
	};
	int result = p->cupti->host_open(&open);

	p->host = result ? NULL : open.host;
	return result;
}

static void close_host(struct pm_plan *p)
{
	struct pm_host_end end = {.size = PM_SIZE(pm_host_end, host), .host = p->host};

	if (p->host)
		p->cupti->host_close(&end);
	p->host = NULL;
}

/* In a host object of their own: what one was given cannot be taken away. */
static int add(struct pm_plan *p, const struct pm_chip_context *chip, const char **names, size_t n)
{
	struct pm_metrics metrics = {.size = PM_SIZE(pm_metrics, n), .names = names, .n = n};
	int result;

	close_host(p);
	result = open_host(p, chip);
	if (result)
		return result;
	metrics.host = p->host;
	return p->cupti->add_metrics(&metrics);
}

static int is_unknown(int result)
{
	return result == CUPTI_INVALID_PARAMETER || result == CUPTI_INVALID_METRIC_NAME;
}

/* Which of them it is CUPTI does not say. */
static int add_known(struct pm_plan *p, const struct pm_chip_context *chip, struct pm_list *list)
{
	int result = add(p, chip, list->names, list->n);

	if (!is_unknown(result))
		return result;
	for (size_t i = 0; i < list->n;) {
		result = add(p, chip, &list->names[i], 1);
		if (result && !is_unknown(result))
			return result;
		if (!result) {
			i++;
			continue;
		}
		chip->left_out(chip->context, list->names[i], "not known for this GPU");
		pm_list_remove(list, i);
	}
	return list->n ? add(p, chip, list->names, list->n) : CUPTI_INVALID_METRIC_NAME;
}

static int make_image(struct pm_plan *p)
{
	struct pm_config_size size = {
		.size = PM_SIZE(pm_config_size, image_bytes), .host = p->host};
	struct pm_config config = {.size = PM_SIZE(pm_config, image), .host = p->host};
	int result = p->cupti->get_config_size(&size);

	if (result)
		return result;
	free(p->image);
	p->image_bytes = size.image_bytes;
	p->image = calloc(1, size.image_bytes ? size.image_bytes : 1);
	if (!p->image)
		return CUPTI_OUT_OF_MEMORY;
	config.image_bytes = p->image_bytes;
	config.image = p->image;
	return p->cupti->get_config(&config);
}

static int count_passes(const struct pm_plan *p, size_t *n)
{
	struct pm_passes passes = {
		.size = PM_SIZE(pm_passes, n), .image_bytes = p->image_bytes, .image = p->image};
	int result = p->cupti->count_passes(&passes);

	*n = passes.n;
	return result;
}

int pm_plan_open(struct pm_plan *p, const struct pm_cupti *cupti,
	const struct pm_chip_context *chip, struct pm_list *list)
{
	size_t n_passes = 0;
	int result;

	memset(p, 0, sizeof *p);
	p->cupti = cupti;
	result = add_known(p, chip, list);
	if (!result)
		result = make_image(p);
	if (!result)
		result = count_passes(p, &n_passes);
	while (!result && n_passes > 1 && list->n > 1) {
		chip->left_out(chip->context, list->names[list->n - 1],
			"it does not fit into one pass with those before it");
		pm_list_remove(list, list->n - 1);
		result = add(p, chip, list->names, list->n);
		if (!result)
			result = make_image(p);
		if (!result)
			result = count_passes(p, &n_passes);
	}
	if (!result && n_passes > 1)
		result = CUPTI_INVALID_METRIC_NAME;
	if (result)
		pm_plan_close(p);
	return result;
}

void pm_plan_close(struct pm_plan *p)
{
	close_host(p);
	free(p->image);
	p->image = NULL;
}
