/* SPDX-License-Identifier: Apache-2.0 */
/* Capture options: lookup, ranges, and values; see options.h. */
#include "base/options.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/diag.h"
#include "base/trigger.h"

/* --- Options without effect ------------------------------------------------------------------ */

/* Keys, and beginnings of keys, that are accepted and have no effect. */
static const struct {
	const char *key;
	bool is_prefix;
	bool is_of_true; /* no note for "false", which is the behaviour without the key */
	const char *words; /* the text after the key */
} idle[] = {
	{"ptap_target", false, false,
		"ignored: only a host daemon reads this key, from stock clients; "
		"proftap has --target"},
	{"gpu_aggregated_tracing", false, true, "ignored: events are recorded one by one"},
	{"gpu_enable_nvtx_tracking", false, true,
		"without effect: under proftap run, NVTX ranges are recorded as spans in any case"},
	{"gpu_dump_graph_node_mapping", false, true,
		"without effect: work of graph nodes always belongs to the span that "
		"made the node"},
	{"gpu_range_profiling_counters", false, false,
		"ignored: kernels are not run again for metrics; gpu_pm_sample_counters samples them"},
	{"gpu_range_profiling_allow_multipass", false, true,
		"ignored: kernels are not run again for metrics"},
	{"tpu_", true, false, "ignored: this machine has no TPU"},
	{"tracemark_", true, false, "ignored: this machine has no TPU"},
	{"enable_continuous_profiling", false, true,
		"without effect: the called method decides whether a session is continuous, see "
		"proftap start"},
	{"override_hostnames", false, false,
		"ignored: clients split it and send its parts as override_hostname"},
};

/* The ranges of numbers. A value outside its range counts as the nearest bound. */
static const struct {
	const char *key;
	bool keeps_zero; /* 0 means none, and is not raised to |min| */
	int64_t min;
	int64_t max;
} clamped[] = {
	{"gpu_pm_sample_interval_us", false, 1, INT64_C(86400000000)},
	{"gpu_pm_sample_buffer_size_per_gpu_mb", false, 64, 4096},
	{"ptap_gpu_usage_interval_ms", true, 10, 100},
	{"ptap_usage_interval_ms", true, 10, 60000},
};

/* Returns the row of idle[] for |key|, or -1. */
static int idle_find(const char *key)
{
	for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++)
		if (strncmp(key, idle[i].key, strlen(idle[i].key) + !idle[i].is_prefix) == 0)
			return (int)i;
	return -1;
}

static int idle_note(const struct option *o, int64_t number, struct diag *d)
{
	int i = idle_find(o->key);

	if (i < 0 || (!number && idle[i].is_of_true))
		return 0;
	return diag_set(d, OPTION_NOTED, "%s: %s", o->key, idle[i].words);
}

bool option_is_for_other_servers(const char *key)
{
	return idle_find(key) >= 0 && strncmp(key, "ptap_", 5) != 0;
}

static int clamped_note(const struct option *o, int64_t *number, struct diag *d)
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
				"%s: %" PRId64 " counts as %" PRId64 ": the range is %" PRId64
				" to %" PRId64 " %s",
				o->key, said, *number, clamped[i].min, clamped[i].max, o->unit);
	}
	return 0;
}

int option_note(const struct option *o, int64_t *number, struct diag *d)
{
	int r = idle_note(o, *number, d);

	return r ? r : clamped_note(o, number, d);
}

/* --- Keys and ranges ------------------------------------------------------------------------- */

/* Room for the text of option_describe_range(). */
#define OPTION_RANGE_BYTES 128

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

/* Returns the prefix of |key| that is reserved for known keys; "" when it has none. */
static const char *key_reserved_prefix(const char *key)
{
	static const char *const prefixes[] = {"ptap_", "gpu_", "tpu_"};

	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (has_prefix(key, prefixes[i]))
			return prefixes[i];
	return "";
}

bool option_is_reserved(const char *key)
{
	return *key_reserved_prefix(key) != '\0';
}

/* Searches only keys that begin with |prefix| ("": all) and have one of |uses|. */
static const char *option_find_nearest_of(const char *key, const char *prefix, unsigned uses)
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

/* Searches only among the keys with the same prefix, if |key| has one. */
const char *option_find_nearest(const char *key)
{
	return option_find_nearest_of(key, key_reserved_prefix(key), UINT_MAX);
}

/* Describes the possible values, e.g. "0 to 3", "true or false". */
static const char *option_describe_range(const struct option *o, char *text, size_t n)
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
		option_describe_range(o, range, sizeof range),
		o->type == OPTION_INT && o->max == INT64_MAX ? ", a whole number below 2^63" : "");
}

static int option_name_nearest(
	const char *key, const char *value, const char *nearest, struct diag *d)
{
	char range[OPTION_RANGE_BYTES];

	return diag_set(d, -EINVAL,
		"%.64s: no such option (value \"%.64s\"); the nearest known one is %s (%s)", key,
		value, nearest, option_describe_range(option_find(nearest), range, sizeof range));
}

int option_unknown(const char *key, const char *value, struct diag *d)
{
	return option_name_nearest(key, value, option_find_nearest(key), d);
}

int option_unknown_of_recorder(const char *key, const char *value, struct diag *d)
{
	return option_name_nearest(
		key, value, option_find_nearest_of(key, "", OPTION_OF_RECORDER), d);
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
	return diag_set(d, -EINVAL, "%.64s: not an option of a flight recorder; its options are %s",
		key, keys);
}

void options_print_help(enum option_use use, FILE *out)
{
	for (size_t i = 0; i < n_options; i++) {
		const struct option *o = &options_table[i];
		char range[OPTION_RANGE_BYTES];

		if (!(o->uses & use))
			continue;
		fprintf(out, "  %-38s %s (%s%s%s)\n", o->key, o->help,
			option_describe_range(o, range, sizeof range),
			o->default_text ? "; default " : "",
			o->default_text ? o->default_text : "");
	}
}

/* --- Values ---------------------------------------------------------------------------------- */

static int parse_bool(const char *text, int64_t *out)
{
	static const char *const words[2][4] = {
		{"false", "0", "no", "off"},
		{"true", "1", "yes", "on"},
	};

	for (int value = 0; value < 2; value++) {
		for (int i = 0; i < 4; i++) {
			if (strcasecmp(text, words[value][i]) == 0) {
				*out = value;
				return 0;
			}
		}
	}
	return -EINVAL;
}

static int parse_int(const char *text, int64_t *out)
{
	char *end;

	/* Refuse leading white space, which strtoll() would accept. */
	if (!(*text == '-' || (*text >= '0' && *text <= '9')))
		return -EINVAL;
	errno = 0;
	*out = strtoll(text, &end, 10);
	if (errno == ERANGE || *end || end == text)
		return -EINVAL;
	return 0;
}

int option_parse_number(const struct option *o, const char *text, int64_t *out, struct diag *d)
{
	int r = o->type == OPTION_BOOL ? parse_bool(text, out) : parse_int(text, out);

	if (r < 0 || *out < o->min || *out > o->max)
		return option_bad_value(o, text, d);
	return 0;
}

static const char *type_name(enum option_type type)
{
	static const char *const names[] = {
		[OPTION_BOOL] = "bool", [OPTION_INT] = "int64", [OPTION_STRING] = "string"};

	return names[type];
}

/* JAX's CUPTI tracer and libtpu check the type of these keys. */
static bool key_has_strict_type(const char *key)
{
	return strncmp(key, "gpu_", 4) == 0 || strncmp(key, "tpu_", 4) == 0 ||
	       strncmp(key, "tracemark_", 10) == 0;
}

int option_check_type(
	const struct option *o, enum option_type given, const char *value, struct diag *d)
{
	bool is_convertible =
		o->type != OPTION_STRING && (given == OPTION_STRING || o->type == OPTION_BOOL);

	if (given == o->type || (is_convertible && !key_has_strict_type(o->key)))
		return 0;
	return diag_set(d, -EINVAL,
		"%s: wrong type of \"%.64s\": must be a value of type %s, not %s", o->key, value,
		type_name(o->type), type_name(given));
}

enum option_type option_guess_type(const char *text, int64_t *number)
{
	if (parse_int(text, number) == 0)
		return OPTION_INT;
	if (strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0) {
		parse_bool(text, number);
		return OPTION_BOOL;
	}
	return OPTION_STRING;
}

/* --- the table of capture options ------------------------------------------------------------- */

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
#define MAP_COUNT(key_, unit_, help_) SHARED_INT(RECORDED, key_, -1, INT64_MAX, NULL, unit_, help_)
#define MAP_WORD(key_, check_, default_, form_, help_)                                          \
	{                                                                                       \
		key_, OPTION_STRING, OPTION_MAP, 0, 0, default_, form_, help_, RECORDED, check_ \
	}
/* |form_| describes the form of the text. */
#define TRIGGER(key_, check_, form_, help_)                                                    \
	{                                                                                      \
		key_, OPTION_STRING, OPTION_MAP, 0, 0, NULL, form_, help_, OPTION_OF_RECORDER, \
			check_                                                                 \
	}

static int trigger_check_spans(const char *text)
{
	return trigger_parse_spans(text, NULL);
}

static int trigger_check_counters(const char *text)
{
	return trigger_parse_counters(text, NULL);
}

static int trigger_check_step(const char *text)
{
	return trigger_parse_step(text, NULL);
}

static int detach_check(const char *text)
{
	return strcmp(text, "none") && strcmp(text, "unsubscribe") && strcmp(text, "finalize");
}

/*
 * libtpu accepts these four names, as JAX documents them, in capitals only; it refuses all others.
 */
static int tpu_mode_check(const char *text)
{
	return strcmp(text, "TRACE_ONLY_HOST") && strcmp(text, "TRACE_ONLY_XLA") &&
	       strcmp(text, "TRACE_COMPUTE") && strcmp(text, "TRACE_COMPUTE_AND_SYNC");
}

const struct option options_table[] = {
	FIELD_INT(ALL, "host_tracer_level", 3, "2", NULL,
		"spans recorded: 0 none, 1 user, 2 also info, 3 also verbose"),
	FIELD_INT(RECORDED, "device_tracer_level", 1, "1", NULL, "record GPUs"),
	FIELD_INT(RECORDED, "python_tracer_level", 1, "0", NULL,
		"record Python calls; only JAX's servers can do this"),
	FIELD_INT(TIMED, "duration_ms", INT64_MAX, NULL, "ms", "how long to record"),
	FIELD_INT(TIMED, "delay_ms", INT64_MAX, "0", "ms", "wait before the recording starts"),
	FIELD_INT(TIMED, "start_timestamp_ns", INT64_MAX, "0", "ns",
		"Unix time at which the recording starts; 0: now"),
	{"session_id", OPTION_STRING, OPTION_FIELD, 0, 0, NULL, NULL,
		"name of the session; default: the name of the run", RECORDED, NULL},

	SHARED_INT(ALL, "ptap_max_capture_bytes", OPTION_MIN_CAPTURE_BYTES, INT64_MAX, NULL,
		"bytes", "memory that the capture may use in the target's server"),
	MAP_INT("ptap_spool_window_bytes", 4096, INT64_C(1) << 30, "8388608", "bytes",
		"records kept in memory before the target's server writes them to a file"),
	MAP_INT("ptap_usage_interval_ms", 0, 60000, "100", "ms",
		"time between two samples of CPU, memory, faults and I/O; 0: none"),
	SHARED_INT(ALL, "ptap_sample_hz", 0, 4999, "99", "Hz",
		"CPU samples in a second of each thread that runs; 0, also a flight recorder's "
		"default: none"),
	{"ptap_offcpu", OPTION_BOOL, OPTION_MAP, 0, 1, "true", NULL,
		"tell when threads ran, were preempted, or waited; not with ptap_sample_hz=0", ALL,
		NULL},
	MAP_BOOL("ptap_machine_usage", "true",
		"add counters of the whole machine, if recorded through a host daemon"),

	TRIGGER("ptap_trigger_span", trigger_check_spans,
		"NAME:TIME with TIME in us, ms or s, as in decode:100ms; several with ';' between "
		"them",
		"write a run when a span of this name took longer than TIME"),
	TRIGGER("ptap_trigger_step", trigger_check_step, "a decimal number greater than 1",
		"write a run when a step took this many times the usual time"),
	TRIGGER("ptap_trigger_counter", trigger_check_counters,
		"NAME>BOUND or NAME<BOUND; several with ';' between them",
		"write a run when a counter of this name went beyond its bound"),
	SHARED_INT(OPTION_OF_RECORDER, "ptap_trigger_interval_ms", 1000, INT64_C(86400000), "60000",
		"ms", "minimum time between two runs that triggers write"),

	MAP_STRING("ptap_target",
		"programs to record when JAX's or TensorFlow's client calls a host daemon: "
		"a pid, a name, LABEL=VALUE or all"),
	MAP_STRING("override_hostname", "host part of the file's name"),
	MAP_STRING(
		"override_hostnames", "host part of the file's name for each target, a comma list"),
	MAP_BOOL("use_system_hostname", "false",
		"use the system's name as the host part of the file's name"),
	MAP_BOOL("enable_continuous_profiling", "false", "record in chunks (JAX and TensorFlow)"),
	MAP_BOOL("profile_subprocesses", "false",
		"record subprocesses, too: those registered (JAX), or all that have servers of "
		"their own (proftap)"),
	MAP_INT("tracemark_lower", INT64_MIN, INT64_MAX, NULL, NULL, "first trace mark (TPU)"),
	MAP_INT("tracemark_upper", INT64_MIN, INT64_MAX, NULL, NULL, "last trace mark (TPU)"),

	MAP_INT("gpu_max_callback_api_events", -1, INT64_MAX, "2097152", "events",
		"driver calls kept; 0 or -1: all"),
	MAP_INT("gpu_max_activity_api_events", -1, INT64_MAX, "2097152", "events",
		"kernels, copies and other activities kept; 0 or -1: all"),
	MAP_INT("gpu_max_annotation_strings", -1, INT64_MAX, "1048576", "strings",
		"different annotations kept; 0 or -1: all"),
	MAP_BOOL("gpu_enable_nvtx_tracking", "false",
		"JAX: record NVTX ranges by CUPTI; no effect in proftap, see proftap-run(1)"),
	MAP_BOOL("gpu_enable_cupti_activity_graph_trace", "false",
		"record each CUDA graph as a whole"),
	MAP_STRING("gpu_pm_sample_counters", "comma list of GPU metrics to sample"),
	MAP_INT("gpu_pm_sample_interval_us", 1, INT64_MAX / 1000, "500", "us",
		"time between two samples"),
	MAP_INT("gpu_pm_sample_buffer_size_per_gpu_mb", 0, INT64_MAX, "64", "MB",
		"buffer for samples; values are clamped to 64..4096"),
	MAP_INT("gpu_num_chips_to_profile_per_task", -1, INT32_MAX, "0", "GPUs",
		"record only the first GPUs; 0 or -1: all"),
	MAP_BOOL("gpu_aggregated_tracing", "false",
		"JAX: record sums only, no single events; no effect in proftap"),
	MAP_STRING("gpu_range_profiling_counters",
		"JAX: comma list of metrics of each kernel; no effect in proftap"),
	MAP_BOOL("gpu_range_profiling_allow_multipass", "false",
		"JAX: run kernels again for more metrics; no effect in proftap"),
	MAP_BOOL("gpu_dump_graph_node_mapping", "false", "old JAX option; no effect"),

	MAP_WORD("ptap_cuda_detach", detach_check, "unsubscribe", "none, unsubscribe or finalize",
		"what proftap does with the program's CUPTI after a capture"),
	MAP_BOOL("ptap_cuda_sync_at_stop", "false",
		"wait for the devices before the last records are fetched; the program waits, too"),
	MAP_INT("ptap_cuda_settle_ms", 0, 1000, "100", "ms",
		"wait before the last records are fetched, so that kernels may finish"),
	MAP_INT("ptap_cuda_buffer_mb", 1, 16384, "256", "MB",
		"memory for CUPTI's records in the program"),
	MAP_BOOL("ptap_cuda_memory", "false", "record allocations and frees of device memory"),
	MAP_BOOL("ptap_cuda_sync", "false", "record waits for devices"),
	MAP_BOOL("ptap_cuda_api", "false",
		"record all calls of the driver and the runtime, not only launches"),
	MAP_INT("ptap_gpu_usage_interval_ms", 0, 100, "100", "ms",
		"time between two samples of GPUs' use by NVML, at least 10; 0: none"),

	MAP_WORD("tpu_trace_mode", tpu_mode_check, "TRACE_ONLY_XLA",
		"TRACE_ONLY_HOST, TRACE_ONLY_XLA, TRACE_COMPUTE or TRACE_COMPUTE_AND_SYNC",
		"parts of TPUs that are recorded"),
	MAP_COUNT("tpu_num_chips_to_profile_per_task", "TPUs", "TPUs recorded"),
	MAP_COUNT("tpu_num_sparse_cores_to_trace", "cores", "sparse cores recorded"),
	MAP_COUNT("tpu_num_sparse_core_tiles_to_trace", "tiles",
		"tiles of each sparse core recorded"),
	MAP_BOOL("tpu_circular_buffer_tracing", "false",
		"if full, keep the newest events, not the oldest"),
	MAP_BOOL("tpu_perf_counters", "true", "read performance counters"),
	MAP_STRING("tpu_perf_counter_sets", "sets of performance counters to read"),
	MAP_BOOL("tpu_enable_kernel_profiling", NULL, "record inside kernels"),
	MAP_BOOL("tpu_enable_periodic_counter_sampling", NULL, "sample counters all the time"),
	MAP_BOOL("tpu_enable_fw_pcie_utilization_event", NULL, "record the use of PCIe"),
	MAP_BOOL("tpu_e2e_enable_fw_power_level_event", NULL, "record power levels"),
	MAP_BOOL("tpu_e2e_enable_fw_thermal_event", NULL, "record thermal events"),
	MAP_BOOL("tpu_e2e_enable_fw_throttle_event", NULL, "record throttling"),
	MAP_BOOL("tpu_sc_dma", NULL, "record DMA of sparse cores"),
	MAP_STRING("tpu_cmn_perf_counter_sampling_options", "a message of libtpu's, as text"),
	MAP_STRING("tpu_icr_perf_counter_sampling_options", "a message of libtpu's, as text"),
	MAP_STRING("tpu_scs_perf_counter_sampling_options", "a message of libtpu's, as text"),
	MAP_STRING("tpu_sctc_perf_counter_sampling_options", "a message of libtpu's, as text"),
	MAP_STRING("tpu_sctd_perf_counter_sampling_options", "a message of libtpu's, as text"),
	MAP_STRING("tpu_tc_perf_counter_sampling_options", "a message of libtpu's, as text"),
	MAP_STRING("tpu_cpu_perf_counter_configs", "counters of the host's processors"),
	MAP_STRING("tpu_cpu_perf_counter_profile_events", "events of the host's processors"),
	MAP_INT("tpu_cpu_perf_counter_interval_ms", INT64_MIN, INT64_MAX, NULL, "ms",
		"time between two samples of the host's processors"),
	MAP_INT("tpu_power_trace_level", INT64_MIN, INT64_MAX, NULL, NULL, "record power"),
	MAP_INT("tpu_watched_sync_flag_number", INT64_MIN, INT64_MAX, NULL, NULL,
		"sync flag to watch"),
	MAP_INT("tpu_watched_sync_flag_mask", INT64_MIN, INT64_MAX, NULL, NULL,
		"mask of the sync flag"),
	MAP_INT("tpu_tracemark_lower", INT64_MIN, INT64_MAX, NULL, NULL, "first trace mark"),
	MAP_INT("tpu_tracemark_upper", INT64_MIN, INT64_MAX, NULL, NULL, "last trace mark"),
};

const size_t n_options = sizeof options_table / sizeof options_table[0];

/* --- the nearest word ------------------------------------------------------------------------- */

#define MAX_LETTERS 63u

static char letter_fold(char c)
{
	return c == '-' ? '_' : c;
}

static unsigned int min_of(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static bool letters_are_swapped(const char *a, size_t i, const char *b, size_t j)
{
	return i > 1 && j > 1 && letter_fold(a[i - 1]) == letter_fold(b[j - 2]) &&
	       letter_fold(a[i - 2]) == letter_fold(b[j - 1]);
}

unsigned int nearest_distance(const char *a, const char *b)
{
	/* Rows i-2, i-1 and i of the table of distances, reused in turn. */
	unsigned int rows[3][MAX_LETTERS + 1];
	size_t n_a = strnlen(a, MAX_LETTERS);
	size_t n_b = strnlen(b, MAX_LETTERS);

	for (size_t j = 0; j <= n_b; j++)
		rows[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= n_a; i++) {
		unsigned int *row = rows[i % 3];
		const unsigned int *above = rows[(i - 1) % 3];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= n_b; j++) {
			unsigned int cost = letter_fold(a[i - 1]) != letter_fold(b[j - 1]);

			row[j] = min_of(min_of(above[j], row[j - 1]) + 1, above[j - 1] + cost);
			if (letters_are_swapped(a, i, b, j))
				row[j] = min_of(row[j], rows[(i - 2) % 3][j - 2] + 1);
		}
	}
	return rows[n_a % 3][n_b];
}
