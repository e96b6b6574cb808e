/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of checks; see checks.h. */
#include "client/doctor/checks.h"

#define RECORDING "recording"
#define HOST "host daemon"
#define LIMITS "limits of this shell"
#define OUTPUT "pages and files"
#define SAMPLING "CPU samples"
#define INSPECTION "looking into programs and kernel (to come)"
#define USAGE "usage"
#define GPU "GPUs"
#define CONFINEMENT "confinement"

const struct check checks[] = {
	{"proftapd", RECORDING, "proftapd", true, check_proftapd, NULL},
	{"libproftap", RECORDING, "libproftap", true, check_libproftap, NULL},
	{"proc", RECORDING, "/proc", true, check_proc, NULL},
	{"memory", RECORDING, "shared memory", true, check_memory, NULL},
	{"pidfd", RECORDING, "process descriptors", true, check_pidfd, NULL},
	{"loopback", RECORDING, "loopback", true, check_loopback, NULL},
	{"sock_diag", RECORDING, "owners of sockets", true, check_sock_diag, NULL},
	{"runtime_dir", RECORDING, "runtime directory", true, check_runtime_dir, NULL},
	{"log_dir", RECORDING, "log directory", true, check_log_dir, NULL},
	{"clock", RECORDING, "clock of spans", false, check_clock, NULL},
	{"limit_files", LIMITS, "open files", false, check_limit_files, NULL},
	{"limit_file_size", LIMITS, "size of files", false, check_limit_file_size, NULL},
	{"limit_memory", LIMITS, "address space", false, check_limit_memory, NULL},
	{"limit_locked", LIMITS, "locked memory", false, check_limit_locked, NULL},
	{"limit_processes", LIMITS, "processes", false, check_limit_processes, NULL},
	{"unit_socket", HOST, "proftapd.socket", false, check_unit, "proftapd.socket"},
	{"unit_registry", HOST, "registry socket", false, check_unit, "proftapd-registry.socket"},
	{"unit_web", HOST, "web socket", false, check_unit, "proftapd-web.socket"},
	{"unit_service", HOST, "proftapd.service", false, check_unit, "proftapd.service"},
	{"port_grpc", HOST, "gRPC port", false, check_port_grpc, "proftapd.socket"},
	{"port_web", HOST, "web port", false, check_port_web, "proftapd-web.socket"},
	{"registry", HOST, "registry", false, check_registry, "proftapd-registry.socket"},
	{"microhttpd", OUTPUT, "libmicrohttpd", false, check_microhttpd, NULL},
	{"sqlite", OUTPUT, "SQLite", false, check_sqlite, NULL},
	{"perf_call", SAMPLING, "perf events", false, check_perf_call, NULL},
	{"perf_own", SAMPLING, "own programs", false, check_perf_own, NULL},
	{"perf_kernel", SAMPLING, "kernel frames", false, check_perf_kernel, NULL},
	{"perf_cpu", SAMPLING, "processors", false, check_perf_cpu, NULL},
	{"perf_others", SAMPLING, "others' programs", false, check_perf_others, NULL},
	{"perf_cycles", SAMPLING, "hardware counters", false, check_perf_cycles, NULL},
	{"perf_rings", SAMPLING, "rings", false, check_perf_rings, NULL},
	{"perf_rate", SAMPLING, "highest rate", false, check_perf_rate, NULL},
	{"libdw", SAMPLING, "libdw", false, check_libdw, NULL},
	{"ptrace", INSPECTION, "ptrace", false, check_ptrace, NULL},
	{"ptrace_others", INSPECTION, "ptrace of others", false, check_ptrace_others, NULL},
	{"bpf", INSPECTION, "BPF", false, check_bpf, NULL},
	{"btf", INSPECTION, "kernel types", false, check_btf, NULL},
	{"tracefs", INSPECTION, "tracefs", false, check_tracefs, NULL},
	{"kernel_symbols", INSPECTION, "kernel symbols", false, check_kernel_symbols, NULL},
	{"lockdown", INSPECTION, "lockdown", false, check_lockdown, NULL},
	{"cgroup", USAGE, "cgroups", false, check_cgroup, NULL},
	{"pressure", USAGE, "pressure", false, check_pressure, NULL},
	{"npu", USAGE, "NPU", false, check_npu, NULL},
	{"nvml", USAGE, "NVML", false, check_nvml, NULL},
	{"nvidia_driver", GPU, "NVIDIA driver", false, check_nvidia_driver, NULL},
	{"gpu_nodes", GPU, "device nodes", false, check_gpu_nodes, NULL},
	{"gpu_container", GPU, "container's share", false, check_gpu_container, NULL},
	{"cuda", GPU, "CUDA", false, check_cuda, NULL},
	{"gpu_plugin", GPU, "plug-in", false, check_gpu_plugin, NULL},
	{"cupti", GPU, "CUPTI", false, check_cupti, NULL},
	{"gpu_counters", GPU, "counters", false, check_gpu_counters, NULL},
	{"gpu_persistence", GPU, "persistence mode", false, check_gpu_persistence, NULL},
	{"gpu_mig", GPU, "MIG", false, check_gpu_mig, NULL},
	{"seccomp", CONFINEMENT, "system call filter", false, check_seccomp, NULL},
	{"no_new_privs", CONFINEMENT, "new rights", false, check_no_new_privs, NULL},
	{"hidepid", CONFINEMENT, "other processes", false, check_hidepid, NULL},
	{"user_namespace", CONFINEMENT, "user namespace", false, check_user_namespace, NULL},
	{"container", CONFINEMENT, "container", false, check_container, NULL},
};

const size_t n_checks = sizeof checks / sizeof checks[0];

#define TARGET "target"
#define TARGET_GPU "its GPUs"

const struct check target_checks[] = {
	{"target_server", TARGET, "server", true, check_target_server, NULL},
	{"target_state", TARGET, "free", true, check_target_state, NULL},
	{"target_process", TARGET, "process", true, check_target_process, NULL},
	{"target_user", TARGET, "user", true, check_target_user, NULL},
	{"target_library", TARGET, "libproftap", false, check_target_library, NULL},
	{"target_rings", TARGET, "rings", false, check_target_rings, NULL},
	{"target_namespaces", TARGET, "namespaces", false, check_target_namespaces, NULL},
	{"target_tracing", TARGET, "ptrace (to come)", false, check_target_tracing, NULL},
	{"target_sampling", TARGET, "CPU samples", false, check_target_sampling, NULL},
	{"target_cuda", TARGET_GPU, "CUDA", false, check_target_cuda, NULL},
	{"target_gpu_plugin", TARGET_GPU, "plug-in", false, check_target_gpu_plugin, NULL},
	{"target_cupti", TARGET_GPU, "CUPTI", false, check_target_cupti, NULL},
	{"target_gpu_said", TARGET_GPU, "last recording", false, check_target_gpu_said, NULL},
	{"target_gpu_counters", TARGET_GPU, "counters", false, check_target_gpu_counters, NULL},
	{"target_gpu_container", TARGET_GPU, "container's share", false, check_target_gpu_container,
		NULL},
};

const size_t n_target_checks = sizeof target_checks / sizeof target_checks[0];
