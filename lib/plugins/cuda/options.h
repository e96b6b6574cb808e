/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture was asked for: the keys of base/options.c that are a GPU collector's. Values were checked on their way here. */
#ifndef PLUGINS_CUDA_OPTIONS_H
#define PLUGINS_CUDA_OPTIONS_H

#include <stdint.h>

struct ptap_collector_services;

#define OPTIONS_NO_LIMIT UINT64_MAX

/* How CUPTI is left after a capture. */
enum options_detach {
	OPTIONS_UNSUBSCRIBE, /* somebody else may subscribe; some of its hooks stay in the driver */
	OPTIONS_STAY, /* nobody else may */
	OPTIONS_FINALIZE, /* nothing of it stays */
};

struct options {
	uint64_t max_calls; /* gpu_max_callback_api_events */
	uint64_t max_records; /* gpu_max_activity_api_events */
	uint32_t n_devices; /* the first ones are recorded; UINT32_MAX: all */
	int has_graph_trace; /* graphs as a whole, not their nodes */
	int has_waits; /* ptap_cuda_sync */
	int has_memory; /* ptap_cuda_memory */
	int has_all_calls; /* ptap_cuda_api */
	int syncs_at_stop; /* ptap_cuda_sync_at_stop */
	enum options_detach detach; /* ptap_cuda_detach */
	uint32_t buffer_mb; /* in all */
	uint32_t settle_ms; /* for what runs at the end */
	/* gpu_pm_sample_counters, or NULL; valid as long as the services are */
	const char *counters;
	uint64_t counter_interval_ns;
	uint64_t counter_buffer_bytes; /* a device's */
};

void options_read(struct options *o, const struct ptap_collector_services *services);

#endif
