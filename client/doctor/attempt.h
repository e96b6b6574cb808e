/* SPDX-License-Identifier: Apache-2.0 */
/* What no file tells: system calls, really tried. Nothing is left behind, and no other process is touched. */
#ifndef CLIENT_ATTEMPT_H
#define CLIENT_ATTEMPT_H

#include <sys/types.h>

enum attempt {
	ATTEMPT_MEMFD, /* memory that is shared with the server, and its seals */
	ATTEMPT_PIDFD,
	ATTEMPT_LOOPBACK, /* a port of 127.0.0.1 */
	ATTEMPT_SOCK_DIAG, /* whose connection is it */
	ATTEMPT_PERF_CALL, /* perf_event_open is not kept from us */
	ATTEMPT_PERF_OWN, /* its own code */
	ATTEMPT_PERF_KERNEL, /* and the kernel's below it */
	ATTEMPT_PERF_CPU, /* all that a processor does */
	ATTEMPT_PERF_PID, /* the code of process |pid| */
	ATTEMPT_PERF_CYCLES, /* by the processor's own counters */
	ATTEMPT_PERF_RINGS, /* a ring of 1 MiB for each processor */
	ATTEMPT_PTRACE, /* a process of this user's that is no child */
	ATTEMPT_PTRACE_PID, /* reading memory of |pid| */
	ATTEMPT_BPF, /* loading a program for tracing */
	N_ATTEMPTS,
};

/* 0, or the negative errno that the kernel answered. |pid| of those that say so. */
int attempt(enum attempt what, pid_t pid);

#endif
