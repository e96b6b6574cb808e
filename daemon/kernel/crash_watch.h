/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the thread of a process that received a signal which ends it with a core dump (SIGSEGV,
 * SIGABRT and the like), without touching the process. The source is the kernel's process events
 * (CONFIG_PROC_EVENTS), which every user may read since Linux 6.6, in the first pid, user and
 * network namespaces. The kernel delivers one event for each crash, and no others.
 */
#ifndef DAEMON_CRASH_WATCH_H
#define DAEMON_CRASH_WATCH_H

#include <sys/types.h>

/*
 * The number of crashes kept. The events are read every fraction of a second; if more processes
 * crash in between, the oldest crashes are lost.
 */
#define CRASHES_MAX 64u

/*
 * Opens a descriptor that reports crashes of the whole machine from now on; -1: the kernel does not
 * report them to this process. Owner: the caller (close()).
 */
int crash_watch_open(void);

/* The newest crashes of the machine. All zero is the empty state. */
struct crashes {
	struct {
		pid_t pid;
		pid_t tid;
	} v[CRASHES_MAX];
	unsigned n; /* count of all crashes so far */
};

/* Reads all pending events. */
void crash_watch_read(int fd, struct crashes *crashes);
/* Returns the thread of |pid| that crashed, or 0. */
pid_t crashes_find(const struct crashes *crashes, pid_t pid);

/*
 * Returns 1 if the main thread crashed, according to the text of /proc/PID/stat, which shows this
 * until the parent has waited for the process, else 0; -1: the text does not show it.
 */
int crash_watch_find_main(const char *stat);

#endif
