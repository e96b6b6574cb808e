/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the tables in checks.c, by the files of this folder that define them. */
#ifndef CLIENT_CHECKS_H
#define CLIENT_CHECKS_H

struct check;
struct finding;
struct system;

/* --- checks of the machine ----------------------------------------------------------------- */

#define CHECK(name) \
	void check_##name(const struct system *sys, const struct check *self, struct finding *f)

/* needs.c */
CHECK(proc);
CHECK(memory);
CHECK(pidfd);
CHECK(loopback);
CHECK(sock_diag);
/* programs.c */
CHECK(proftapd);
CHECK(libproftap);
/* places.c */
CHECK(runtime_dir);
CHECK(log_dir);
/* limits.c */
CHECK(limit_files);
CHECK(limit_file_size);
CHECK(limit_memory);
CHECK(limit_locked);
CHECK(limit_processes);
/* clock_source.c */
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
/* usage_files.c */
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
/* gpu_modes.c */
CHECK(gpu_persistence);
CHECK(gpu_mig);
/* gpu_plugin.c */
CHECK(gpu_plugin);
/* cupti.c */
CHECK(cupti);
/* gpu_counters.c */
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
/* gpu_plugin.c */
CHECK(gpu_plugin);
/* gpu_counters.c */
CHECK(gpu_counters);
/* gpu_container.c */
CHECK(gpu_container);

#undef CHECK

#endif
