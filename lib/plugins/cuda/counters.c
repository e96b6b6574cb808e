/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of all devices of a capture; see counters.h. */
#include "lib/plugins/cuda/counters.h"

#include <errno.h>
#include <math.h>
#include <proftap/collector.h>
#include <stdlib.h>
#include <string.h>

#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/driver.h"
#include "lib/plugins/cuda/options.h"
#include "lib/plugins/cuda/pm_cupti.h"
#include "lib/plugins/cuda/pm_plan.h"
#include "lib/plugins/cuda/records.h"
#include "lib/plugins/cuda/sentence.h"
#include "lib/plugins/cuda/version.h"

/* --- one device ---------------------------------------------------------------------------- */

struct pm_sampler {
	const struct pm_cupti *cupti;
	uint16_t device;
	struct pm_list list; /* the requested metrics that this device has */
	uint32_t names[PM_LIST_MAX]; /* the numbers of the metrics' names */
	struct pm_plan plan;
	uint8_t *availability;
	void *sampling; /* NULL: not enabled */
	uint8_t *data;
	size_t data_bytes;
	bool is_running;
	uint64_t n_read; /* samples read */
	uint64_t n_gaps; /* times that the hardware's buffer was full */
};

struct pm_wish {
	const char *counters;
	uint64_t interval_ns;
	uint64_t buffer_bytes;
	/* The sizes of the structs in this version of CUPTI. */
	size_t support_bytes;
	size_t set_config_bytes;
	void (*left_out)(void *context, const char *metric, const char *why);
	void *context;
};

/* size of the image: samples that one round of a fetch reads */
#define MAX_SAMPLES 1024u
/* limit of rounds in one fetch, which ends at an empty image */
#define MAX_ROUNDS 64

static int check_support(
	const struct pm_sampler *s, const struct driver *driver, const struct pm_wish *wish)
{
	struct pm_support support = {.size = wish->support_bytes, .api = PM_API};
	int result;

	if (driver->get_device(&support.device, s->device))
		return CUPTI_UNKNOWN;
	result = s->cupti->get_support(&support);
	if (result || support.is_supported == PM_SUPPORTED)
		return result;
	if (support.confidential != PM_SUPPORTED)
		return CUPTI_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED;
	if (support.vgpu != PM_SUPPORTED)
		return CUPTI_VIRTUALIZED_DEVICE_NOT_SUPPORTED;
	if (support.wsl != PM_SUPPORTED)
		return CUPTI_WSL_DEVICE_NOT_SUPPORTED;
	return support.sli != PM_SUPPORTED ? CUPTI_SLI_DEVICE_NOT_SUPPORTED : CUPTI_NOT_SUPPORTED;
}

static int find_availability(struct pm_sampler *s)
{
	struct pm_availability a = {.size = PM_SIZE(pm_availability, image), .device = s->device};
	int result = s->cupti->get_availability(&a);

	if (result)
		return result;
	s->availability = calloc(1, a.image_bytes ? a.image_bytes : 1);
	if (!s->availability)
		return CUPTI_OUT_OF_MEMORY;
	a.image = s->availability;
	return s->cupti->get_availability(&a);
}

static int make_plan(struct pm_sampler *s, const struct pm_wish *wish)
{
	struct pm_chip chip = {.size = PM_SIZE(pm_chip, name), .device = s->device};
	struct pm_chip_context context = {.availability = s->availability,
		.left_out = wish->left_out,
		.context = wish->context};
	int result = s->cupti->get_chip(&chip);

	context.chip = chip.name;
	return result ? result : pm_plan_open(&s->plan, s->cupti, &context, &s->list);
}

static int enable_sampling(struct pm_sampler *s, const struct pm_wish *wish)
{
	struct pm_enable on = {.size = PM_SIZE(pm_enable, sampling), .device = s->device};
	struct pm_set_config config = {
		.size = wish->set_config_bytes,
		.config_bytes = s->plan.image_bytes,
		.config = s->plan.image,
		.buffer_bytes = wish->buffer_bytes,
		.interval = wish->interval_ns,
		.trigger = PM_BY_TIME,
		.append_mode = PM_KEEP_LATEST,
	};
	int result = s->cupti->enable(&on);

	if (result)
		return result;
	s->sampling = on.sampling;
	config.sampling = on.sampling;
	return s->cupti->set_config(&config);
}

static int init_sampler_data(struct pm_sampler *s)
{
	struct pm_data_init init = {
		.size = PM_SIZE(pm_data_init, data),
		.sampling = s->sampling,
		.data_bytes = s->data_bytes,
		.data = s->data,
	};

	return s->cupti->init_data(&init);
}

static int make_sampler_data(struct pm_sampler *s)
{
	struct pm_data_size size = {
		.size = PM_SIZE(pm_data_size, data_bytes),
		.sampling = s->sampling,
		.names = s->list.names,
		.n = s->list.n,
		.max_samples = MAX_SAMPLES,
	};
	int result = s->cupti->get_data_size(&size);

	if (result)
		return result;
	s->data_bytes = size.data_bytes;
	s->data = calloc(1, size.data_bytes ? size.data_bytes : 1);
	return s->data ? init_sampler_data(s) : CUPTI_OUT_OF_MEMORY;
}

static int open_sampler(struct pm_sampler *s, const struct pm_cupti *cupti,
	const struct driver *driver, uint16_t device, const struct pm_wish *wish)
{
	struct pm_initialize initialize = {.size = PM_SIZE(pm_initialize, reserved)};
	int result;

	memset(s, 0, sizeof *s);
	s->cupti = cupti;
	s->device = device;
	pm_list_read(&s->list, wish->counters);
	result = cupti->initialize(&initialize);
	if (!result)
		result = check_support(s, driver, wish);
	if (!result)
		result = find_availability(s);
	if (!result)
		result = make_plan(s, wish);
	if (!result)
		result = enable_sampling(s, wish);
	return result ? result : make_sampler_data(s);
}

static int start_sampler(struct pm_sampler *s)
{
	struct pm_object start = {.size = PM_SIZE(pm_object, sampling), .sampling = s->sampling};
	int result = s->cupti->start(&start);

	s->is_running = !result;
	return result;
}

static int stop_sampler(struct pm_sampler *s)
{
	struct pm_object stop = {.size = PM_SIZE(pm_object, sampling), .sampling = s->sampling};
	int result = s->is_running ? s->cupti->stop(&stop) : CUPTI_OK;

	s->is_running = false;
	return result;
}

/* Emits one value of one sample. Some metrics have no value in an interval: NaN. */
static int emit_value(struct pm_sampler *s, struct records *records, const struct pm_sample *sample,
	size_t metric, double value)
{
	struct ptap_device_record record = {
		.size = sizeof record,
		.kind = PTAP_DEVICE_COUNTER,
		.device = s->device,
		.start_ns = sample->start_ns,
		.end_ns = sample->end_ns,
		.of.counter = value,
	};

	if (isnan(value)) {
		losses_add(&records->losses, PTAP_DEVICE_LOSS_INVALID, PTAP_DEVICE_COUNTER, 1);
		return 0;
	}
	if (!s->names[metric])
		s->names[metric] = cuda_names_find(
			&records->names, PTAP_DEVICE_COUNTER, s->list.names[metric]);
	record.name = s->names[metric];
	return records_emit(records, &record);
}

static int read_sample(struct pm_sampler *s, struct records *records, size_t i, int *code)
{
	double values[PM_LIST_MAX];
	struct pm_sample sample = {
		.size = PM_SIZE(pm_sample, end_ns),
		.sampling = s->sampling,
		.data = s->data,
		.data_bytes = s->data_bytes,
		.index = i,
	};
	struct pm_evaluate evaluate = {
		.size = PM_SIZE(pm_evaluate, values),
		.host = s->plan.host,
		.data = s->data,
		.data_bytes = s->data_bytes,
		.index = i,
		.names = s->list.names,
		.n = s->list.n,
		.values = values,
	};
	int result = s->cupti->get_sample(&sample);

	if (!result)
		result = s->cupti->evaluate(&evaluate);
	/* The first sample began before the sampling did. */
	if (result || s->n_read++ == 0 || sample.end_ns < sample.start_ns)
		return result;
	for (size_t metric = 0; metric < s->list.n && !*code; metric++)
		*code = emit_value(s, records, &sample, metric, values[metric]);
	return CUPTI_OK;
}

static int read_data_image(struct pm_sampler *s, struct records *records, size_t *n, int *code)
{
	struct pm_data_info info = {.size = PM_SIZE(pm_data_info, n_completed),
		.data = s->data,
		.data_bytes = s->data_bytes};
	int result = s->cupti->get_data_info(&info);

	*n = info.n_completed;
	for (size_t i = 0; i < info.n_completed && !result && !*code; i++)
		result = read_sample(s, records, i, code);
	return result ? result : init_sampler_data(s);
}

/* The hardware's buffer overflowed: its samples are lost, and sampling must be restarted. */
static int restart_sampler(struct pm_sampler *s, struct records *records)
{
	bool was_running = s->is_running;
	int result;

	s->n_gaps++;
	losses_add(&records->losses, PTAP_DEVICE_LOSS_DROPPED, PTAP_DEVICE_COUNTER, 1);
	result = stop_sampler(s);
	s->n_read = 0;
	return result || !was_running ? result : start_sampler(s);
}

static int read_sampler(struct pm_sampler *s, struct records *records, int *code)
{
	struct pm_decode decode = {
		.size = PM_SIZE(pm_decode, has_overflowed),
		.sampling = s->sampling,
		.data = s->data,
		.data_bytes = s->data_bytes,
	};
	size_t n = 1;
	int result = CUPTI_OK;

	for (int round = 0; round < MAX_ROUNDS && n && !result && !*code; round++) {
		result = s->cupti->decode(&decode);
		if (result == CUPTI_OUT_OF_MEMORY)
			return restart_sampler(s, records);
		if (!result)
			result = read_data_image(s, records, &n, code);
	}
	return result;
}

static void close_sampler(struct pm_sampler *s, bool is_dead)
{
	struct pm_object disable = {.size = PM_SIZE(pm_object, sampling), .sampling = s->sampling};

	if (s->sampling && !is_dead)
		s->cupti->disable(&disable);
	s->sampling = NULL;
	if (is_dead)
		s->plan.host = NULL;
	pm_plan_close(&s->plan);
	free(s->availability);
	free(s->data);
	s->availability = NULL;
	s->data = NULL;
}

/* --- all devices --------------------------------------------------------------------------- */

static void warn_of_result(
	const struct result_context *context, struct records *records, int result, unsigned device)
{
	char sentence[SENTENCE_BYTES];
	char what[64];

	what[0] = '\0';
	sentence_append(what, sizeof what, "sampling the counters of GPU %u", device);
	if (result == CUPTI_INVALID_METRIC_NAME)
		sentence_write(
			sentence, 0, "%s: this GPU knows none of gpu_pm_sample_counters", what);
	else
		result_explain(context, result, what, sentence);
	records->services->warn(sentence);
}

static void warn_of_left_out(void *context, const char *metric, const char *why)
{
	struct records *records = context;
	char sentence[SENTENCE_BYTES];

	sentence_write(sentence, 0,
		"gpu_pm_sample_counters: %.200s is left out: %s; ncu --query-metrics-collection "
		"pmsampling lists the metrics",
		metric, why);
	records->services->warn(sentence);
}

static void warn_of_beyond(const char *counters, struct records *records)
{
	char sentence[SENTENCE_BYTES];
	struct pm_list list;
	size_t n = pm_list_read(&list, counters);

	sentence_write(sentence, 0,
		"gpu_pm_sample_counters: the last %zu are left out: there is room for %u metrics, of %u bytes in all",
		n, PM_LIST_MAX, PM_LIST_BYTES);
	if (n)
		records->services->warn(sentence);
}

static int bind_sampling(struct cuda_counters *c, void *library,
	const struct result_context *context, struct records *records)
{
	char version[VERSION_BYTES];
	char sentence[SENTENCE_BYTES];
	int r = version_has(context->cupti->version, VERSION_HAS_SAMPLING)
			? pm_cupti_bind(&c->cupti, library)
			: -ENOSYS;

	if (r == -ENOENT)
		sentence_write(sentence, 0,
			"gpu_pm_sample_counters: libnvperf_host.so is not beside %s; pip install "
			"nvidia-cuda-cupti, or the CUDA toolkit, has both",
			context->path);
	else if (r)
		sentence_write(sentence, 0,
			"gpu_pm_sample_counters: the CUPTI of %s cannot sample counters; CUDA 12.6 "
			"is the first that can",
			version_format(context->cupti->version, version));
	if (r)
		records->services->warn(sentence);
	return r;
}

void counters_open(struct cuda_counters *c, void *library, int n_devices,
	const struct driver *driver, const struct options *options,
	const struct result_context *context, struct records *records)
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
		.left_out = warn_of_left_out,
		.context = records,
	};

	*c = (struct cuda_counters){.n = 0};
	if (!wish.counters || bind_sampling(c, library, context, records))
		return;
	warn_of_beyond(wish.counters, records);
	c->samplers = calloc((size_t)n_devices, sizeof *c->samplers);
	if (!c->samplers)
		records->services->warn("gpu_pm_sample_counters: no memory for the samplers");
	for (int i = 0; c->samplers && i < n_devices; i++) {
		int result =
			open_sampler(&c->samplers[c->n], &c->cupti, driver, (uint16_t)i, &wish);

		if (result) {
			warn_of_result(context, records, result, (unsigned)i);
			close_sampler(&c->samplers[c->n], false);
		} else {
			c->n++;
		}
	}
}

void counters_start(
	struct cuda_counters *c, const struct result_context *context, struct records *records)
{
	for (int i = 0; i < c->n; i++) {
		int result = start_sampler(&c->samplers[i]);

		if (result)
			warn_of_result(context, records, result, c->samplers[i].device);
	}
}

static int read_device_counters(
	struct pm_sampler *s, const struct result_context *context, struct records *records)
{
	int code = 0;
	int result = read_sampler(s, records, &code);

	if (!result)
		return code;
	warn_of_result(context, records, result, s->device);
	stop_sampler(s);
	return code;
}

int counters_read(
	struct cuda_counters *c, const struct result_context *context, struct records *records)
{
	int code = 0;

	for (int i = 0; i < c->n && !code; i++)
		if (c->samplers[i].is_running)
			code = read_device_counters(&c->samplers[i], context, records);
	return code;
}

void counters_stop(struct cuda_counters *c)
{
	for (int i = 0; i < c->n; i++)
		stop_sampler(&c->samplers[i]);
}

void counters_close(struct cuda_counters *c, bool is_dead)
{
	for (int i = 0; i < c->n; i++)
		close_sampler(&c->samplers[i], is_dead);
	free(c->samplers);
	c->samplers = NULL;
	c->n = 0;
}
