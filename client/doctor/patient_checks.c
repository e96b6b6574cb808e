/* SPDX-License-Identifier: Apache-2.0 */
/* The table of checks of a target; see patient_checks.h. A new one is a function and a row. */
#include "client/doctor/patient_checks.h"

#define TARGET "target"
#define GPU "its GPUs"

const struct check patient_checks[] = {
	{"target_server", TARGET, "server", true, check_target_server, NULL},
	{"target_state", TARGET, "free", true, check_target_state, NULL},
	{"target_process", TARGET, "process", true, check_target_process, NULL},
	{"target_user", TARGET, "user", true, check_target_user, NULL},
	{"target_library", TARGET, "libproftap", false, check_target_library, NULL},
	{"target_rings", TARGET, "rings", false, check_target_rings, NULL},
	{"target_namespaces", TARGET, "namespaces", false, check_target_namespaces, NULL},
	{"target_tracing", TARGET, "ptrace (to come)", false, check_target_tracing, NULL},
	{"target_sampling", TARGET, "sampling (to come)", false, check_target_sampling, NULL},
	{"target_cuda", GPU, "CUDA", false, check_target_cuda, NULL},
	{"target_gpu_plugin", GPU, "plug-in", false, check_target_gpu_plugin, NULL},
	{"target_cupti", GPU, "CUPTI", false, check_target_cupti, NULL},
	{"target_gpu_said", GPU, "last recording", false, check_target_gpu_said, NULL},
	{"target_gpu_counters", GPU, "counters", false, check_target_gpu_counters, NULL},
	{"target_gpu_container", GPU, "container's share", false, check_target_gpu_container, NULL},
};

const size_t n_patient_checks = sizeof patient_checks / sizeof patient_checks[0];
