/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of the machine and of a target: the row of a check, the tables of checks.c, and
 * the functions of the checks under the name of the file that defines them. A new check
 * needs a function and a row.
 */
#ifndef CLIENT_CHECKS_H
#define CLIENT_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

struct check;
struct finding;
struct system;

/* --- checks of the machine ----------------------------------------------------------------- */

#define CHECK(name) \
	void check_##name(const struct system *sys, const struct check *self, struct finding *f)

/* kernel.c */
CHECK(proc);
CHECK(memory);
CHECK(pidfd);
CHECK(loopback);
CHECK(sock_diag);
/* programs.c */
CHECK(proftapd);
CHECK(libproftap);
CHECK(microhttpd);
CHECK(sqlite);
CHECK(libdw);
/* places.c */
CHECK(runtime_dir);
CHECK(log_dir);
/* kernel.c */
CHECK(limit_files);
CHECK(limit_file_size);
CHECK(limit_memory);
CHECK(limit_locked);
CHECK(limit_processes);
CHECK(clock);
/* service.c */
CHECK(unit);
CHECK(port_grpc);
CHECK(port_web);
CHECK(registry);
/* perf.c */
CHECK(perf_call);
CHECK(perf_own);
CHECK(perf_kernel);
CHECK(perf_cpu);
CHECK(perf_others);
CHECK(perf_cycles);
CHECK(perf_rings);
CHECK(perf_rate);
/* tracing.c */
CHECK(ptrace);
CHECK(ptrace_others);
CHECK(bpf);
CHECK(btf);
CHECK(tracefs);
CHECK(kernel_symbols);
CHECK(lockdown);
/* kernel.c */
CHECK(cgroup);
CHECK(pressure);
CHECK(npu);
/* gpu.c */
CHECK(nvidia_driver);
CHECK(cuda);
CHECK(nvml);
/* gpu_container.c */
CHECK(gpu_nodes);
CHECK(gpu_container);
/* gpu.c */
CHECK(gpu_persistence);
CHECK(gpu_mig);
CHECK(gpu_plugin);
/* target_cuda.c */
CHECK(cupti);
/* gpu.c */
CHECK(gpu_counters);
/* confinement.c */
CHECK(seccomp);
CHECK(no_new_privs);
CHECK(hidepid);
CHECK(user_namespace);
CHECK(container);

#undef CHECK

/* --- checks of a target -------------------------------------------------------------------- */

#define CHECK(name)               \
	void check_target_##name( \
		const struct system *sys, const struct check *self, struct finding *f)

/* target_process.c */
CHECK(server);
CHECK(state);
CHECK(process);
CHECK(user);
CHECK(library);
CHECK(rings);
CHECK(namespaces);
CHECK(tracing);
CHECK(sampling);
/* target_cuda.c */
CHECK(cuda);
CHECK(cupti);
CHECK(gpu_said);
/* gpu.c */
CHECK(gpu_plugin);
CHECK(gpu_counters);
/* gpu_container.c */
CHECK(gpu_container);

#undef CHECK

/* --- the tables ------------------------------------------------------------------------------- */

struct check {
	const char *key; /* the name in JSON and in the manual */
	const char *group; /* the heading; rows of a group are adjacent */
	const char *name; /* the name in the text output */
	bool is_needed; /* a "no" means that proftap cannot record; else it is only a limitation */
	void (*run)(const struct system *sys, const struct check *self, struct finding *f);
	const char *about; /* the object of the check if several rows share |run|; else NULL */
};

/* The checks of the machine. */
extern const struct check checks[];
extern const size_t n_checks;

/* The checks of the target system->target. */
extern const struct check target_checks[];
extern const size_t n_target_checks;

#endif
