/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries system calls, because no file shows whether they are permitted. Nothing is left behind, and
 * no other process is affected. Foreign libraries and programs, which may hang, run in a child with
 * a time limit.
 */
#ifndef CLIENT_ATTEMPT_H
#define CLIENT_ATTEMPT_H

#include <stddef.h>
#include <sys/types.h>

enum attempt {
	ATTEMPT_MEMFD, /* creating memory to share with a server, with seals */
	ATTEMPT_PIDFD,
	ATTEMPT_LOOPBACK, /* connecting to a port of 127.0.0.1 */
	ATTEMPT_SOCK_DIAG, /* finding the owner of a connection */
	ATTEMPT_PERF_CALL, /* calling perf_event_open at all */
	ATTEMPT_PERF_OWN, /* sampling this process's code */
	ATTEMPT_PERF_KERNEL, /* sampling this process's code and the kernel's code that it calls */
	ATTEMPT_PERF_CPU, /* sampling everything on a processor */
	ATTEMPT_PERF_PID, /* sampling the code of process |pid| */
	ATTEMPT_PERF_CYCLES, /* sampling by the processor's own counters */
	ATTEMPT_PERF_RINGS, /* mapping a ring of 1 MiB for each processor */
	ATTEMPT_PTRACE, /* tracing a process of this user that is no descendant */
	ATTEMPT_PTRACE_PID, /* reading memory of |pid| */
	ATTEMPT_BPF, /* loading a program for tracing */
	N_ATTEMPTS,
};

/* Returns 0 or the kernel's negative errno. |pid| is for the attempts that name it above. */
int attempt(enum attempt what, pid_t pid);

/* --- work in a child process ------------------------------------------------------------------ */

/* The time limit for foreign libraries and programs. */
#define CHILD_WORK_MS 5000

/*
 * Runs |work| in a child. |out| gets the child's standard output and error, cut to |n| bytes,
 * without the last line break. Returns the child's exit status (0 to 255), -ETIMEDOUT if it was
 * killed because the time was over, -ECHILD if a signal ended it, or a negative errno if it was not
 * started. The child is a copy of this process, which must not have started threads yet.
 */
int child_work_run(
	int (*work)(const void *what), const void *what, int timeout_ms, char *out, size_t n);

/*
 * Runs the program argv[0], which is searched for in PATH; |argv| ends with NULL. |out| and the
 * result are those of child_work_run(); -ENOENT if the program was not found.
 */
int child_work_run_program(const char *const *argv, char *out, size_t n);

#endif
