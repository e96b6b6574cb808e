/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a capture; see options.h. */
#include "lib/plugins/cuda/options.h"

#include <errno.h>
#include <proftap/collector.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEFAULT_EVENTS 2097152
#define DEFAULT_BUFFER_MB 256
#define DEFAULT_SETTLE_MS 100
#define DEFAULT_INTERVAL_US 500
/* JAX has the same limits. */
#define MIN_COUNTER_BUFFER_MB 64
#define MAX_COUNTER_BUFFER_MB 4096

#define MAX_BUFFER_MB 16384
#define MAX_SETTLE_MS 1000
/* µs, of one day */
#define MAX_INTERVAL_US INT64_C(86400000000)

typedef const char *(*get_option)(const char *key);

static int64_t get_number_option(get_option get, const char *key, int64_t otherwise)
{
	const char *text = get(key);
	int64_t number;
	char *end;

	if (!text)
		return otherwise;
	errno = 0;
	number = strtoll(text, &end, 10);
	return errno || *end || end == text ? otherwise : number;
}

static int64_t get_number_option_within(
	get_option get, const char *key, int64_t min, int64_t max, int64_t otherwise)
{
	int64_t number = get_number_option(get, key, otherwise);

	if (number < min)
		return min;
	return number > max ? max : number;
}

/* 0 and -1 both mean no limit: JAX's code and its documents disagree about 0. */
static uint64_t get_limit_option(get_option get, const char *key, int64_t otherwise)
{
	int64_t number = get_number_option(get, key, otherwise);

	return number <= 0 ? OPTIONS_NO_LIMIT : (uint64_t)number;
}

static bool is_option_on(get_option get, const char *key)
{
	static const char *const words[] = {"true", "1", "yes", "on"};
	const char *text = get(key);

	for (size_t i = 0; text && i < sizeof words / sizeof words[0]; i++)
		if (strcasecmp(text, words[i]) == 0)
			return true;
	return false;
}

static enum options_detach get_detach_option(get_option get)
{
	const char *text = get("ptap_cuda_detach");

	if (text && strcmp(text, "finalize") == 0)
		return OPTIONS_FINALIZE;
	return text && strcmp(text, "none") == 0 ? OPTIONS_STAY : OPTIONS_UNSUBSCRIBE;
}

static const char *get_text_option(get_option get, const char *key)
{
	const char *text = get(key);

	return text && text[0] ? text : NULL;
}

void options_read(struct options *o, const struct ptap_collector_services *services)
{
	get_option get = services->get_option;
	int64_t n_devices = get_number_option(get, "gpu_num_chips_to_profile_per_task", 0);

	*o = (struct options){
		.max_calls = get_limit_option(get, "gpu_max_callback_api_events", DEFAULT_EVENTS),
		.max_records = get_limit_option(get, "gpu_max_activity_api_events", DEFAULT_EVENTS),
		.n_devices =
			n_devices > 0 && n_devices < UINT32_MAX ? (uint32_t)n_devices : UINT32_MAX,
		.has_graph_trace = is_option_on(get, "gpu_enable_cupti_activity_graph_trace"),
		.has_waits = is_option_on(get, "ptap_cuda_sync"),
		.has_memory = is_option_on(get, "ptap_cuda_memory"),
		.has_all_calls = is_option_on(get, "ptap_cuda_api"),
		.syncs_at_stop = is_option_on(get, "ptap_cuda_sync_at_stop"),
		.detach = get_detach_option(get),
		.buffer_mb = (uint32_t)get_number_option_within(
			get, "ptap_cuda_buffer_mb", 1, MAX_BUFFER_MB, DEFAULT_BUFFER_MB),
		.settle_ms = (uint32_t)get_number_option_within(
			get, "ptap_cuda_settle_ms", 0, MAX_SETTLE_MS, DEFAULT_SETTLE_MS),
		.counters = get_text_option(get, "gpu_pm_sample_counters"),
		.counter_interval_ns =
			1000 * (uint64_t)get_number_option_within(get, "gpu_pm_sample_interval_us",
				       1, MAX_INTERVAL_US, DEFAULT_INTERVAL_US),
		.counter_buffer_bytes =
			(uint64_t)get_number_option_within(get,
				"gpu_pm_sample_buffer_size_per_gpu_mb", MIN_COUNTER_BUFFER_MB,
				MAX_COUNTER_BUFFER_MB, MIN_COUNTER_BUFFER_MB)
			<< 20,
	};
}
