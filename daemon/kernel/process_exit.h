/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exit of a process that is not our child: waiting for it, and its status.
 *
 * The kernel reports the death of a thread before it frees the memory of the process. If the reason
 * was a lack of memory, and both processes share a cgroup, the kernel may kill whoever allocates
 * memory before that of the process is free. So this module waits without allocating any.
 */
#ifndef DAEMON_PROCESS_EXIT_H
#define DAEMON_PROCESS_EXIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Opens /proc/PID/stat, and reads it once, so that later reads need no memory; -1: failed. Owner:
 * the caller (close()).
 */
int process_exit_open(pid_t pid);

enum process_exit {
	PROCESS_EXIT_NONE, /* it is alive, or its state is unknown */
	PROCESS_EXIT_BEGUN, /* it is exiting, or SIGKILL is pending */
	PROCESS_EXIT_OVER, /* it has ended, and its memory is free */
};

/*
 * Returns the state of the exit, and waits up to |timeout_ms| for its end. Either descriptor may be
 * -1: without |pidfd| the state is unknown, and the function does not wait; without |stat_fd| it
 * sees only the end. *status becomes the exit status, as in wait(2), if the kernel reports it now.
 */
enum process_exit process_exit_poll(int stat_fd, int pidfd, int timeout_ms, int *status);

/*
 * Waits until the process has ended, or is known to continue, for example after exec; 10 s at most.
 * Returns the state then; *status as above.
 */
enum process_exit process_exit_await(int stat_fd, int pidfd, int *status);

/*
 * Returns the exit status as in wait(2). The kernel reports it in |stat_fd| (process_exit_open())
 * from when the process ends until its parent has waited for it; with |pidfd| also later, since
 * Linux 6.15. -1: no descriptor. -ENODATA: unknown, that is, the process exited with 0, is running,
 * or its parent has waited for it.
 */
int exit_status_find(int stat_fd, int pidfd);

/*
 * Returns the start time of the process, which identifies it together with |pid|. 0: it is gone, or
 * we may not read it.
 */
uint64_t process_find_start(pid_t pid);

/*
 * Returns true if the process that began at |start| is known to have exited with status 0. A
 * probable 0 is not enough: /proc also shows 0 to a reader without permission, and the pid may have
 * been reused. |pidfd| may be -1.
 */
bool exit_status_is_zero(pid_t pid, int pidfd, uint64_t start);

/* Does the same as exit_status_find(), from the text of /proc/PID/stat. */
int exit_status_parse(const char *stat);

/* Writes ", killed by SIGSEGV", ", with exit status 3", or "" if |status| is not a status. */
void exit_status_describe(int status, char *text, size_t size);

/* The process of a pidfd that another process sent. */

/*
 * Returns the pid in our namespace; 0: it has none there, or the process has ended. -EBADF: this is
 * no pidfd.
 */
pid_t pidfd_find_pid(int pidfd);

/* Returns true if its process has ended; false for -1. */
bool pidfd_has_ended(int pidfd);

#endif
