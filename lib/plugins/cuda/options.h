/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a capture: the keys of base/options.c for a GPU collector. Their values were
 * checked before.
 */
#ifndef PLUGINS_CUDA_OPTIONS_H
#define PLUGINS_CUDA_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct ptap_collector_services;

#define OPTIONS_NO_LIMIT UINT64_MAX

/* The state of CUPTI after a capture. */
enum options_detach {
	OPTIONS_UNSUBSCRIBE, /* another tool may subscribe; some hooks stay in the driver */
	OPTIONS_STAY, /* no other tool may subscribe */
	OPTIONS_FINALIZE, /* CUPTI leaves no hook */
};

struct options {
	uint64_t max_calls; /* gpu_max_callback_api_events */
	uint64_t max_records; /* gpu_max_activity_api_events */
	uint32_t n_devices; /* only the first devices are recorded; UINT32_MAX: all */
	bool has_graph_trace; /* graphs as a whole, not their nodes */
	bool has_waits; /* ptap_cuda_sync */
	bool has_memory; /* ptap_cuda_memory */
	bool has_all_calls; /* ptap_cuda_api */
	bool syncs_at_stop; /* ptap_cuda_sync_at_stop */
	enum options_detach detach; /* ptap_cuda_detach */
	uint32_t buffer_mb; /* MiB in all */
	uint32_t settle_ms; /* ms, for kernels that run at the end */
	/* gpu_pm_sample_counters, or NULL; valid as long as the services */
	const char *counters;
	uint64_t counter_interval_ns;
	uint64_t counter_buffer_bytes; /* bytes per device */
};

void options_read(struct options *o, const struct ptap_collector_services *services);

#endif
