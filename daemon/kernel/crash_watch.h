/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread of a process received the signal that ends it with a core dump (SIGSEGV, SIGABRT and the like), without touching the
 * process: the kernel's process events tell it (CONFIG_PROC_EVENTS), to every user since Linux 6.6, in the first pid, user and network
 * namespaces. One event a crash is delivered, and none of anything else.
 */
#ifndef DAEMON_CRASH_WATCH_H
#define DAEMON_CRASH_WATCH_H

#include <sys/types.h>

/*
 * The newest crashes that are kept. Looks are fractions of a second apart; if more processes crash
 * between two of them, a crash is missed.
 */
#define CRASHES_MAX 64u

/* A descriptor at which crashes of the whole machine are told from here on; -1: the kernel does not tell us. Owner: the caller (close()). */
int crash_watch_open(void);

/* Crashes of the machine: the newest ones. All zero is the empty state. */
struct crashes {
	struct {
		pid_t pid;
		pid_t tid;
	} v[CRASHES_MAX];
	unsigned n; /* that there ever were */
};

/* Reads all that was told so far. */
void crash_watch_read(int fd, struct crashes *crashes);
/* The thread of |pid| that crashed, or 0. */
pid_t crashes_find(const struct crashes *crashes, pid_t pid);

/*
 * Whether the main thread was it, as the text of the process's /proc/PID/stat tells until its parent has waited for it: 1 or 0;
 * -1: the text does not tell.
 */
int crash_watch_is_main(const char *stat);

#endif
