/* SPDX-License-Identifier: Apache-2.0 */
/* The table of capture options; see options.h. A new option is a new row. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/options.h"
#include "base/trigger.h"

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

/* libtpu takes these four names, as JAX documents them; it refuses all others, and other cases. */
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
		"records in memory before they go to a file at the target's server"),
	MAP_INT("ptap_usage_interval_ms", 0, 60000, "100", "ms",
		"time between two samples of CPU, memory, faults and I/O; 0: none"),
	MAP_BOOL("ptap_machine_usage", "true",
		"counters of the whole machine, if a host daemon passes the trace on"),

	TRIGGER("ptap_trigger_span", trigger_check_spans,
		"NAME:TIME with TIME in us, ms or s, as in decode:100ms; several with ';' between "
		"them",
		"write a run when a span of this name took longer than TIME"),
	TRIGGER("ptap_trigger_step", trigger_check_step, "a decimal number greater than 1",
		"write a run when a step took so many times the usual time"),
	TRIGGER("ptap_trigger_counter", trigger_check_counters,
		"NAME>BOUND or NAME<BOUND; several with ';' between them",
		"write a run when a counter of this name went beyond its bound"),
	SHARED_INT(OPTION_OF_RECORDER, "ptap_trigger_interval_ms", 1000, INT64_C(86400000), "60000",
		"ms", "minimum time between two runs that triggers write"),

	MAP_STRING("ptap_target",
		"programs that a call of JAX's or TensorFlow's clients to a host daemon selects: "
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
		"buffer for samples; 64 to 4096 are used"),
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
		"how proftap leaves CUPTI in the program after a capture"),
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
	MAP_BOOL("tpu_circular_buffer_tracing", "false", "keep the newest instead of the oldest"),
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
