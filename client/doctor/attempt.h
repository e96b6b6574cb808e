/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries system calls whose permission no file tells. Nothing is left behind, and no other process
 * is affected.
 */
#ifndef CLIENT_ATTEMPT_H
#define CLIENT_ATTEMPT_H

#include <sys/types.h>

enum attempt {
	ATTEMPT_MEMFD, /* creating memory to share with a server, with seals */
	ATTEMPT_PIDFD,
	ATTEMPT_LOOPBACK, /* connecting to a port of 127.0.0.1 */
	ATTEMPT_SOCK_DIAG, /* the owner of a connection */
	ATTEMPT_PERF_CALL, /* calling perf_event_open at all */
	ATTEMPT_PERF_OWN, /* sampling this process's code */
	ATTEMPT_PERF_KERNEL, /* sampling that and the kernel's code below it */
	ATTEMPT_PERF_CPU, /* sampling everything on a processor */
	ATTEMPT_PERF_PID, /* sampling the code of process |pid| */
	ATTEMPT_PERF_CYCLES, /* sampling by the processor's own counters */
	ATTEMPT_PERF_RINGS, /* mapping a ring of 1 MiB for each processor */
	ATTEMPT_PTRACE, /* tracing a process of this user's that is no descendant */
	ATTEMPT_PTRACE_PID, /* reading memory of |pid| */
	ATTEMPT_BPF, /* loading a program for tracing */
	N_ATTEMPTS,
};

/* Returns 0 or the kernel's negative errno. |pid| is for the attempts that name it above. */
int attempt(enum attempt what, pid_t pid);

#endif
