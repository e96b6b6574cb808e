/* SPDX-License-Identifier: Apache-2.0 */
/* The table of capture options, and what their values may be; see options.h. */
#include "base/options.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/diag.h"
#include "base/nearest.h"
#include "base/trigger.h"

/* As describe_range() says it. */
#define OPTION_RANGE_BYTES 128

#define TIMED OPTION_OF_CAPTURE
#define RECORDED (OPTION_OF_CAPTURE | OPTION_OF_SESSION)
#define ALL (OPTION_OF_CAPTURE | OPTION_OF_SESSION | OPTION_OF_RECORDER)

#define FIELD_INT(uses_, key_, max_, default_, unit_, help_)                                 \
	{                                                                                    \
		key_, OPTION_INT, OPTION_FIELD, 0, max_, default_, unit_, help_, uses_, NULL \
	}
#define SHARED_INT(uses_, key_, min_, max_, default_, unit_, help_)                           \
	{                                                                                     \
		key_, OPTION_INT, OPTION_MAP, min_, max_, default_, unit_, help_, uses_, NULL \
	}
#define MAP_INT(key_, min_, max_, default_, unit_, help_) \
	SHARED_INT(RECORDED, key_, min_, max_, default_, unit_, help_)
#define MAP_BOOL(key_, default_, help_)                                                    \
	{                                                                                  \
		key_, OPTION_BOOL, OPTION_MAP, 0, 1, default_, NULL, help_, RECORDED, NULL \
	}
#define MAP_STRING(key_, help_)                                                          \
	{                                                                                \
		key_, OPTION_STRING, OPTION_MAP, 0, 0, NULL, NULL, help_, RECORDED, NULL \
	}
/* |form_| is what the text must be. */
#define TRIGGER(key_, check_, form_, help_)                                                    \
	{                                                                                      \
		key_, OPTION_STRING, OPTION_MAP, 0, 0, NULL, form_, help_, OPTION_OF_RECORDER, \
			check_                                                                 \
	}

static int check_spans(const char *text)
{
	return trigger_parse_spans(text, NULL);
}

static int check_counters(const char *text)
{
	return trigger_parse_counters(text, NULL);
}

static int check_step(const char *text)
{
	return trigger_parse_step(text, NULL);
}

const struct option options_table[] = {
	FIELD_INT(ALL, "host_tracer_level", 3, "2", NULL,
		"spans recorded: 0 none, 1 user, 2 and info, 3 and verbose"),
	FIELD_INT(RECORDED, "device_tracer_level", 1, "1", NULL, "record GPUs"),
	FIELD_INT(RECORDED, "python_tracer_level", 1, "0", NULL, "record Python calls"),
	FIELD_INT(TIMED, "duration_ms", INT64_MAX, NULL, "ms", "how long to record"),
	FIELD_INT(TIMED, "delay_ms", INT64_MAX, "0", "ms", "wait before the recording starts"),
	FIELD_INT(TIMED, "start_timestamp_ns", INT64_MAX, "0", "ns",
		"Unix time at which the recording starts; 0: now"),
	{"session_id", OPTION_STRING, OPTION_FIELD, 0, 0, NULL, NULL,
		"name of the session; default: the name of the run", RECORDED, NULL},

	SHARED_INT(ALL, "ptap_max_capture_bytes", OPTION_MIN_CAPTURE_BYTES, INT64_MAX, NULL,
		"bytes", "memory that the capture may use in the target's server"),
	MAP_INT("ptap_spool_window_bytes", 4096, INT64_C(1) << 30, "8388608", "bytes",
		"records in memory before they go to a file at the target's server"),
	MAP_INT("ptap_usage_interval_ms", 0, 60000, "100", "ms",
		"time between two samples of CPU, memory, faults and I/O; 0: none"),
	MAP_BOOL("ptap_machine_usage", "true",
		"counters of the whole machine, if a host daemon passes the trace on"),

	TRIGGER("ptap_trigger_span", check_spans,
		"NAME:TIME with TIME in us, ms or s, as in decode:100ms; several with ';' between them",
		"write a run when such a span took longer"),
	TRIGGER("ptap_trigger_step", check_step, "a decimal number greater than 1",
		"write a run when a step took so many times the usual"),
	TRIGGER("ptap_trigger_counter", check_counters,
		"NAME>BOUND or NAME<BOUND; several with ';' between them",
		"write a run when such a counter was beyond its bound"),
	SHARED_INT(OPTION_OF_RECORDER, "ptap_trigger_interval_ms", 1000, INT64_C(86400000), "60000",
		"ms", "at most one such run in so long a time"),

	MAP_STRING("ptap_target",
		"whom a stock client's call means at a host daemon: a pid, a name, "
		"LABEL=VALUE or all"),
	MAP_STRING("override_hostname", "host part of the file's name"),
	MAP_STRING("override_hostnames", "the same, a comma list, one for each target"),
	MAP_BOOL("use_system_hostname", "false", "host part of the file's name: the system's name"),
	MAP_BOOL("enable_continuous_profiling", "false", "record in chunks (JAX and TensorFlow)"),
	MAP_BOOL("profile_subprocesses", "false",
		"record subprocesses too: registered ones (JAX), all with servers of their own (proftap)"),
	MAP_INT("tracemark_lower", INT64_MIN, INT64_MAX, NULL, NULL, "first trace mark (TPU)"),
	MAP_INT("tracemark_upper", INT64_MIN, INT64_MAX, NULL, NULL, "last trace mark (TPU)"),

	MAP_INT("gpu_max_callback_api_events", -1, INT64_MAX, "2097152", "events",
		"driver calls kept; -1: all"),
	MAP_INT("gpu_max_activity_api_events", -1, INT64_MAX, "2097152", "events",
		"kernels, copies and other activities kept; -1: all"),
	MAP_INT("gpu_max_annotation_strings", -1, INT64_MAX, "1048576", "strings",
		"different annotations kept; -1: all"),
	MAP_BOOL("gpu_enable_nvtx_tracking", "false", "record NVTX ranges"),
	MAP_BOOL("gpu_enable_cupti_activity_graph_trace", "false",
		"record each CUDA graph as a whole"),
	MAP_STRING("gpu_pm_sample_counters", "comma list of GPU metrics to sample"),
	MAP_INT("gpu_pm_sample_interval_us", 1, INT64_MAX / 1000, "500", "us",
		"time between two samples"),
	MAP_INT("gpu_pm_sample_buffer_size_per_gpu_mb", 1, 4096, "64", "MB",
		"buffer for samples; at least 64 are used"),
	MAP_INT("gpu_num_chips_to_profile_per_task", 0, INT32_MAX, "0", "GPUs",
		"record only the first GPUs; 0: all"),
	MAP_BOOL("gpu_aggregated_tracing", "false", "sums only, no single events"),
	MAP_BOOL("gpu_dump_graph_node_mapping", "false", "old JAX option; without effect today"),

	MAP_STRING("tpu_trace_mode",
		"TRACE_ONLY_HOST, TRACE_ONLY_XLA, TRACE_COMPUTE or TRACE_COMPUTE_AND_SYNC"),
	MAP_INT("tpu_num_chips_to_profile_per_task", 0, INT64_MAX, NULL, "TPUs", "TPUs recorded"),
	MAP_INT("tpu_num_sparse_cores_to_trace", 0, INT64_MAX, NULL, "cores",
		"sparse cores recorded"),
	MAP_INT("tpu_num_sparse_core_tiles_to_trace", 0, INT64_MAX, NULL, "tiles",
		"tiles of each sparse core recorded"),
	MAP_BOOL("tpu_circular_buffer_tracing", "false", "keep the newest instead of the oldest"),
	MAP_BOOL("tpu_perf_counters", "true", "read performance counters"),
	MAP_INT("tpu_power_trace_level", 0, INT64_MAX, NULL, NULL, "record power"),
	MAP_INT("tpu_watched_sync_flag_number", INT64_MIN, INT64_MAX, NULL, NULL,
		"sync flag to watch"),
	MAP_INT("tpu_watched_sync_flag_mask", INT64_MIN, INT64_MAX, NULL, NULL,
		"mask of the sync flag"),
};

const size_t n_options = sizeof options_table / sizeof options_table[0];

const struct option *option_find(const char *key)
{
	for (size_t i = 0; i < n_options; i++)
		if (strcmp(key, options_table[i].key) == 0)
			return &options_table[i];
	return NULL;
}

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The prefix of |key| that only known keys may have; "" when it has none. */
static const char *reserved_prefix(const char *key)
{
	static const char *const prefixes[] = {"ptap_", "gpu_", "tpu_"};

	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (has_prefix(key, prefixes[i]))
			return prefixes[i];
	return "";
}

int option_is_reserved(const char *key)
{
	return *reserved_prefix(key) != '\0';
}

/* Among the keys with |prefix|, which may be "", and one of |uses|. */
static const char *find_nearest(const char *key, const char *prefix, unsigned uses)
{
	const char *best = NULL;
	unsigned int best_distance = 0;

	for (size_t i = 0; i < n_options; i++) {
		unsigned int distance = nearest_distance(key, options_table[i].key);

		if (!has_prefix(options_table[i].key, prefix) || !(options_table[i].uses & uses))
			continue;
		if (!best || distance < best_distance) {
			best_distance = distance;
			best = options_table[i].key;
		}
	}
	return best;
}

/* Among the keys of its own kind, when it has a prefix. */
const char *option_find_nearest(const char *key)
{
	return find_nearest(key, reserved_prefix(key), UINT_MAX);
}

/* What a value may be, e.g. "0 to 3", "true or false". */
static const char *describe_range(const struct option *o, char *text, size_t n)
{
	const char *unit = o->unit ? o->unit : "";
	const char *space = o->unit ? " " : "";

	if (o->type == OPTION_BOOL)
		snprintf(text, n, "true or false");
	else if (o->type == OPTION_STRING)
		snprintf(text, n, "%s", o->unit ? o->unit : "text");
	else if (o->min == INT64_MIN && o->max == INT64_MAX)
		snprintf(text, n, "an integer");
	else if (o->max == INT64_MAX)
		snprintf(text, n, "at least %" PRId64 "%s%s", o->min, space, unit);
	else
		snprintf(text, n, "%" PRId64 " to %" PRId64 "%s%s", o->min, o->max, space, unit);
	return text;
}

int option_bad_value(const struct option *o, const char *value, struct diag *d)
{
	char range[OPTION_RANGE_BYTES];

	return diag_set(d, -EINVAL, "%s: bad value \"%.64s\": must be %s%s", o->key, value,
		describe_range(o, range, sizeof range),
		o->type == OPTION_INT && o->max == INT64_MAX ? ", a whole number below 2^63" : "");
}

static int name_nearest(const char *key, const char *value, const char *nearest, struct diag *d)
{
	char range[OPTION_RANGE_BYTES];

	return diag_set(d, -EINVAL,
		"%.64s: no such option (value \"%.64s\"); the nearest known one is %s (%s)", key,
		value, nearest, describe_range(option_find(nearest), range, sizeof range));
}

int option_unknown(const char *key, const char *value, struct diag *d)
{
	return name_nearest(key, value, option_find_nearest(key), d);
}

int option_unknown_of_recorder(const char *key, const char *value, struct diag *d)
{
	return name_nearest(key, value, find_nearest(key, "", OPTION_OF_RECORDER), d);
}

int option_check_recorder(const char *key, struct diag *d)
{
	const struct option *o = option_find(key);
	char keys[256];
	size_t n = 0;

	if (o && o->uses & OPTION_OF_RECORDER)
		return 0;
	for (size_t i = 0; i < n_options && n < sizeof keys; i++)
		if (options_table[i].uses & OPTION_OF_RECORDER)
			n += (size_t)snprintf(keys + n, sizeof keys - n, "%s%s", n ? ", " : "",
				options_table[i].key);
	return diag_set(
		d, -EINVAL, "%.64s: not an option of a flight recorder; it has %s", key, keys);
}

void options_print_help(enum option_use use, FILE *out)
{
	for (size_t i = 0; i < n_options; i++) {
		const struct option *o = &options_table[i];
		char range[OPTION_RANGE_BYTES];

		if (!(o->uses & use))
			continue;
		fprintf(out, "  %-38s %s (%s%s%s)\n", o->key, o->help,
			describe_range(o, range, sizeof range), o->default_text ? "; default " : "",
			o->default_text ? o->default_text : "");
	}
}
