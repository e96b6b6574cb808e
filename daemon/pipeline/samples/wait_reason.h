/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads from /proc what a thread waits for: the system call that it is in, else the function of the
 * kernel in which it sleeps.
 */
#ifndef DAEMON_WAIT_REASON_H
#define DAEMON_WAIT_REASON_H

#include <stdbool.h>
#include <sys/types.h>

#define WAIT_REASON_BYTES 48

struct wait_reason {
	bool is_ready; /* the thread runs, or waits for a processor */
	/* "futex", "stopped", …; "" if it is ready, or the kernel does not tell */
	char text[WAIT_REASON_BYTES];
};

/*
 * Reads it for the thread |tid| of the process |pid|; |root| is "" or a test's fake root. 0, or a
 * negative errno: -ENOENT or -ESRCH when the thread is gone.
 */
int wait_reason_read(const char *root, pid_t pid, pid_t tid, struct wait_reason *out);

#endif
