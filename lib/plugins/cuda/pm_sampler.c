/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of one device; see pm_sampler.h. */
#include "lib/plugins/cuda/pm_sampler.h"

#include <math.h>
#include <proftap/collector.h>
#include <stdlib.h>
#include <string.h>

#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/driver.h"
#include "lib/plugins/cuda/pm_cupti.h"
#include "lib/plugins/cuda/records.h"

/* Fetched at a time; more come by the next. */
#define MAX_SAMPLES 1024u
/* So often a fetch goes on while the image is full. */
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

static int enable(struct pm_sampler *s, const struct pm_wish *wish)
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

static int init_data(struct pm_sampler *s)
{
	struct pm_data_init init = {
		.size = PM_SIZE(pm_data_init, data),
		.sampling = s->sampling,
		.data_bytes = s->data_bytes,
		.data = s->data,
	};

	return s->cupti->init_data(&init);
}

static int make_data(struct pm_sampler *s)
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
	return s->data ? init_data(s) : CUPTI_OUT_OF_MEMORY;
}

int pm_sampler_open(struct pm_sampler *s, const struct pm_cupti *cupti, const struct driver *driver,
	uint16_t device, const struct pm_wish *wish)
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
		result = enable(s, wish);
	return result ? result : make_data(s);
}

int pm_sampler_start(struct pm_sampler *s)
{
	struct pm_object start = {.size = PM_SIZE(pm_object, sampling), .sampling = s->sampling};
	int result = s->cupti->start(&start);

	s->is_running = !result;
	return result;
}

int pm_sampler_stop(struct pm_sampler *s)
{
	struct pm_object stop = {.size = PM_SIZE(pm_object, sampling), .sampling = s->sampling};
	int result = s->is_running ? s->cupti->stop(&stop) : CUPTI_OK;

	s->is_running = 0;
	return result;
}

/* One value of one sample. Some have none in an interval: NaN. */
static int emit(struct pm_sampler *s, struct records *records, const struct pm_sample *sample,
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
		s->names[metric] =
			names_find(&records->names, PTAP_DEVICE_COUNTER, s->list.names[metric]);
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
	/* The first one began before the sampling did. */
	if (result || s->n_read++ == 0 || sample.end_ns < sample.start_ns)
		return result;
	for (size_t metric = 0; metric < s->list.n && !*code; metric++)
		*code = emit(s, records, &sample, metric, values[metric]);
	return CUPTI_OK;
}

static int read_image(struct pm_sampler *s, struct records *records, size_t *n, int *code)
{
	struct pm_data_info info = {.size = PM_SIZE(pm_data_info, n_completed),
		.data = s->data,
		.data_bytes = s->data_bytes};
	int result = s->cupti->get_data_info(&info);

	*n = info.n_completed;
	for (size_t i = 0; i < info.n_completed && !result && !*code; i++)
		result = read_sample(s, records, i, code);
	return result ? result : init_data(s);
}

/* What it had is gone, and it does not go on by itself. */
static int begin_again(struct pm_sampler *s, struct records *records)
{
	int was_running = s->is_running;
	int result;

	s->n_gaps++;
	losses_add(&records->losses, PTAP_DEVICE_LOSS_DROPPED, PTAP_DEVICE_COUNTER, 1);
	result = pm_sampler_stop(s);
	s->n_read = 0;
	return result || !was_running ? result : pm_sampler_start(s);
}

int pm_sampler_read(struct pm_sampler *s, struct records *records, int *code)
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
			return begin_again(s, records);
		if (!result)
			result = read_image(s, records, &n, code);
	}
	return result;
}

void pm_sampler_close(struct pm_sampler *s, int is_dead)
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
