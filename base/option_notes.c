/* SPDX-License-Identifier: Apache-2.0 */
/* Options that are accepted, and not done as they were said; see options.h. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/diag.h"
#include "base/options.h"

/* Keys, and beginnings of keys, that have no effect. */
static const struct {
	const char *key;
	bool is_prefix;
	bool is_of_true; /* false is what happens without the key, too */
	const char *words; /* behind the key */
} idle[] = {
	{"ptap_target", false, false,
		"ignored: a host daemon takes it from stock clients; proftap has --target"},
	{"gpu_aggregated_tracing", false, true, "ignored: events are recorded one by one"},
	{"gpu_enable_nvtx_tracking", false, true,
		"without effect here: NVTX's ranges are spans without it, under proftap run"},
	{"gpu_dump_graph_node_mapping", false, true,
		"without effect today: nodes of graphs always know where they were made"},
	{"gpu_range_profiling_counters", false, false,
		"ignored: kernels are not run again for metrics; gpu_pm_sample_counters samples them"},
	{"gpu_range_profiling_allow_multipass", false, true,
		"ignored: kernels are not run again for metrics"},
	{"tpu_", true, false, "ignored: this machine has no TPU"},
	{"tracemark_", true, false, "ignored: this machine has no TPU"},
	{"enable_continuous_profiling", false, true,
		"without effect: the call says whether a session is continuous, see proftap start"},
	{"override_hostnames", false, false,
		"ignored: clients take it apart and send override_hostname"},
};

/* Numbers of which some count as others. */
static const struct {
	const char *key;
	bool keeps_zero; /* which means none */
	int64_t min;
	int64_t max;
} clamped[] = {
	{"gpu_pm_sample_interval_us", false, 1, INT64_C(86400000000)},
	{"gpu_pm_sample_buffer_size_per_gpu_mb", false, 64, 4096},
	{"ptap_gpu_usage_interval_ms", true, 10, 100},
	{"ptap_usage_interval_ms", true, 10, 60000},
};

/* The row of idle[] for |key|, or -1. */
static int find_idle(const char *key)
{
	for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++)
		if (strncmp(key, idle[i].key, strlen(idle[i].key) + !idle[i].is_prefix) == 0)
			return (int)i;
	return -1;
}

static int note_idle(const struct option *o, int64_t number, struct diag *d)
{
	int i = find_idle(o->key);

	if (i < 0 || (!number && idle[i].is_of_true))
		return 0;
	return diag_set(d, OPTION_NOTED, "%s: %s", o->key, idle[i].words);
}

int option_is_for_other_servers(const char *key)
{
	return find_idle(key) >= 0 && strncmp(key, "ptap_", 5) != 0;
}

static int clamp(const struct option *o, int64_t *number, struct diag *d)
{
	for (size_t i = 0; i < sizeof clamped / sizeof clamped[0]; i++) {
		int64_t said = *number;

		if (strcmp(o->key, clamped[i].key) != 0 || (clamped[i].keeps_zero && !said))
			continue;
		if (said < clamped[i].min)
			*number = clamped[i].min;
		if (said > clamped[i].max)
			*number = clamped[i].max;
		if (*number != said)
			return diag_set(d, OPTION_NOTED,
				"%s: %" PRId64 " counts as %" PRId64 ": it is %" PRId64
				" to %" PRId64 " %s",
				o->key, said, *number, clamped[i].min, clamped[i].max, o->unit);
	}
	return 0;
}

int option_note(const struct option *o, int64_t *number, struct diag *d)
{
	int r = note_idle(o, *number, d);

	return r ? r : clamp(o, number, d);
}
