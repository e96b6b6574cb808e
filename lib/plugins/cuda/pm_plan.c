/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of a kind of GPU, and the way to sample them; see pm_plan.h. */
#include "lib/plugins/cuda/pm_plan.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/pm_cupti.h"

/* --- the list ------------------------------------------------------------------------------ */

/* XLA's choice for Hopper; tests/interop checks with CUPTI that it still fits into one pass. */
static const char default_metrics[] =
	"gpc__cycles_elapsed.avg.per_second,"
	"gr__cycles_active.sum.pct_of_peak_sustained_elapsed,"
	"TPC.TriageCompute.sm__cycles_active.avg.pct_of_peak_sustained_elapsed,"
	"TPC.TriageCompute.sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed,"
	"TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed,"
	"dramc__read_throughput.avg.pct_of_peak_sustained_elapsed,"
	"dramc__write_throughput.avg.pct_of_peak_sustained_elapsed,"
	"pcie__read_bytes.avg.pct_of_peak_sustained_elapsed,"
	"pcie__write_bytes.avg.pct_of_peak_sustained_elapsed,"
	"nvlrx__bytes.avg.pct_of_peak_sustained_elapsed,"
	"nvltx__bytes.avg.pct_of_peak_sustained_elapsed";

/* Returns the next name of |*list|, |*n| bytes without the blanks around it. NULL: no more. */
static const char *find_next_name(const char **list, size_t *n)
{
	const char *word = *list + strspn(*list, ", \t");

	*n = strcspn(word, ",");
	*list = word + *n;
	while (*n && strchr(" \t", word[*n - 1]))
		--*n;
	return *n ? word : NULL;
}

size_t pm_list_read(struct pm_list *l, const char *option)
{
	const char *list = strcmp(option, "default") == 0 ? default_metrics : option;
	const char *word;
	size_t n_bytes = 0;
	size_t n_beyond = 0;
	size_t n;

	l->n = 0;
	while ((word = find_next_name(&list, &n))) {
		if (l->n == PM_LIST_MAX || n >= sizeof l->text - n_bytes) {
			n_beyond++;
			continue;
		}
		l->names[l->n++] = memcpy(l->text + n_bytes, word, n);
		l->text[n_bytes + n] = '\0';
		n_bytes += n + 1;
	}
	return n_beyond;
}

void pm_list_remove(struct pm_list *l, size_t i)
{
	l->n--;
	memmove(&l->names[i], &l->names[i + 1], (l->n - i) * sizeof l->names[0]);
}

/* --- the plan ------------------------------------------------------------------------------ */

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

/* Adds the metrics to a new host object, because metrics cannot be removed from one. */
static int add_metrics(
	struct pm_plan *p, const struct pm_chip_context *chip, const char **names, size_t n)
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

static bool is_unknown_metric(int result)
{
	return result == CUPTI_INVALID_PARAMETER || result == CUPTI_INVALID_METRIC_NAME;
}

/* CUPTI does not say which metric is unknown, so each is tried alone. */
static int add_known_metrics(
	struct pm_plan *p, const struct pm_chip_context *chip, struct pm_list *list)
{
	int result = add_metrics(p, chip, list->names, list->n);

	if (!is_unknown_metric(result))
		return result;
	for (size_t i = 0; i < list->n;) {
		result = add_metrics(p, chip, &list->names[i], 1);
		if (result && !is_unknown_metric(result))
			return result;
		if (!result) {
			i++;
			continue;
		}
		chip->left_out(chip->context, list->names[i], "not known for this GPU");
		pm_list_remove(list, i);
	}
	return list->n ? add_metrics(p, chip, list->names, list->n) : CUPTI_INVALID_METRIC_NAME;
}

static int make_config_image(struct pm_plan *p)
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
	result = add_known_metrics(p, chip, list);
	if (!result)
		result = make_config_image(p);
	if (!result)
		result = count_passes(p, &n_passes);
	while (!result && n_passes > 1 && list->n > 1) {
		chip->left_out(chip->context, list->names[list->n - 1],
			"it does not fit into one pass with those before it");
		pm_list_remove(list, list->n - 1);
		result = add_metrics(p, chip, list->names, list->n);
		if (!result)
			result = make_config_image(p);
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
