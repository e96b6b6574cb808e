/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of all devices of a capture; see counters.h. */
#include "lib/plugins/cuda/counters.h"

#include <errno.h>
#include <proftap/collector.h>
#include <stdlib.h>

#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/options.h"
#include "lib/plugins/cuda/pm_sampler.h"
#include "lib/plugins/cuda/records.h"
#include "lib/plugins/cuda/result.h"
#include "lib/plugins/cuda/sentence.h"
#include "lib/plugins/cuda/version.h"

static void warn_result(
	const struct result_context *context, struct records *records, int result, unsigned device)
{
	char sentence[SENTENCE_BYTES];
	char what[64];

	what[0] = '\0';
	append(what, sizeof what, "sampling the counters of GPU %u", device);
	if (result == CUPTI_INVALID_METRIC_NAME)
		say(sentence, 0, "%s: none of gpu_pm_sample_counters is known for it", what);
	else
		result_say(context, result, what, sentence);
	records->services->warn(sentence);
}

static void warn_left_out(void *context, const char *metric, const char *why)
{
	struct records *records = context;
	char sentence[SENTENCE_BYTES];

	say(sentence, 0,
		"gpu_pm_sample_counters: %.200s is left out: %s; ncu --query-metrics-collection pmsampling lists "
		"what there is",
		metric, why);
	records->services->warn(sentence);
}

static void warn_beyond(const char *counters, struct records *records)
{
	char sentence[SENTENCE_BYTES];
	struct pm_list list;
	size_t n = pm_list_read(&list, counters);

	say(sentence, 0,
		"gpu_pm_sample_counters: the last %zu are left out: there is room for %u metrics, of %u bytes in all",
		n, PM_LIST_MAX, PM_LIST_BYTES);
	if (n)
		records->services->warn(sentence);
}

static int bind(struct counters *c, void *library, const struct result_context *context,
	struct records *records)
{
	char version[VERSION_BYTES];
	char sentence[SENTENCE_BYTES];
	int r = version_has(context->cupti->version, VERSION_HAS_SAMPLING)
			? pm_cupti_bind(&c->cupti, library)
			: -ENOSYS;

	if (r == -ENOENT)
		say(sentence, 0,
			"gpu_pm_sample_counters: libnvperf_host.so is not beside %s; pip install "
			"nvidia-cuda-cupti, or the CUDA toolkit, has both",
			context->path);
	else if (r)
		say(sentence, 0,
			"gpu_pm_sample_counters: not with the CUPTI of %s; CUDA 12.6 is the first that samples "
			"counters",
			version_format(context->cupti->version, version));
	if (r)
		records->services->warn(sentence);
	return r;
}

void counters_open(struct counters *c, void *library, int n_devices, const struct driver *driver,
	const struct options *options, const struct result_context *context,
	struct records *records)
{
	uint32_t version = context->cupti->version;
	struct pm_wish wish = {
		.counters = options->counters,
		.interval_ns = options->counter_interval_ns,
		.buffer_bytes = options->counter_buffer_bytes,
		.support_bytes = version_has(version, VERSION_OLD_SUPPORT)
					 ? PM_SIZE(pm_support, api)
					 : PM_SIZE(pm_support, sku),
		.set_config_bytes = version_has(version, VERSION_OLD_SAMPLING)
					    ? PM_SIZE(pm_set_config, trigger)
					    : PM_SIZE(pm_set_config, append_mode),
		.left_out = warn_left_out,
		.context = records,
	};

	*c = (struct counters){.n = 0};
	if (!wish.counters || bind(c, library, context, records))
		return;
	warn_beyond(wish.counters, records);
	c->samplers = calloc((size_t)n_devices, sizeof *c->samplers);
	if (!c->samplers)
		records->services->warn("gpu_pm_sample_counters: no memory for the samplers");
	for (int i = 0; c->samplers && i < n_devices; i++) {
		int result =
			pm_sampler_open(&c->samplers[c->n], &c->cupti, driver, (uint16_t)i, &wish);

		if (result) {
			warn_result(context, records, result, (unsigned)i);
			pm_sampler_close(&c->samplers[c->n], 0);
		} else {
			c->n++;
		}
	}
}

void counters_start(
	struct counters *c, const struct result_context *context, struct records *records)
{
	for (int i = 0; i < c->n; i++) {
		int result = pm_sampler_start(&c->samplers[i]);

		if (result)
			warn_result(context, records, result, c->samplers[i].device);
	}
}

static int read_one(
	struct pm_sampler *s, const struct result_context *context, struct records *records)
{
	int code = 0;
	int result = pm_sampler_read(s, records, &code);

	if (!result)
		return code;
	warn_result(context, records, result, s->device);
	pm_sampler_stop(s);
	return code;
}

int counters_read(struct counters *c, const struct result_context *context, struct records *records)
{
	int code = 0;

	for (int i = 0; i < c->n && !code; i++)
		if (c->samplers[i].is_running)
			code = read_one(&c->samplers[i], context, records);
	return code;
}

void counters_stop(struct counters *c)
{
	for (int i = 0; i < c->n; i++)
		pm_sampler_stop(&c->samplers[i]);
}

void counters_close(struct counters *c, int is_dead)
{
	for (int i = 0; i < c->n; i++)
		pm_sampler_close(&c->samplers[i], is_dead);
	free(c->samplers);
	c->samplers = NULL;
	c->n = 0;
}
