/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts to open perf events; as attempt.h says. The events are closed again, and never count. */
#ifndef CLIENT_ATTEMPT_PERF_H
#define CLIENT_ATTEMPT_PERF_H

#include <sys/types.h>

int attempt_perf_call(pid_t pid);
int attempt_perf_own(pid_t pid);
int attempt_perf_kernel(pid_t pid);
int attempt_perf_cpu(pid_t pid);
int attempt_perf_pid(pid_t pid);
int attempt_perf_cycles(pid_t pid);
int attempt_perf_rings(pid_t pid);

#endif
