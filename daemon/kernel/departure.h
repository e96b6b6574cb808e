/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process on its way out. The kernel tells of the death of one of its threads before the memory of all is given back, and
 * when memory was the reason for it, whoever asks for some until then is killed next, where both share a cgroup. So this is
 * waited for without asking for any.
 */
#ifndef DAEMON_DEPARTURE_H
#define DAEMON_DEPARTURE_H

#include <sys/types.h>

/* Its /proc/PID/stat, read once, so that the next time no memory is needed; -1: none. Owner: the caller (close()). */
int departure_open(pid_t pid);

enum departure {
	DEPARTURE_NONE, /* it lives, or nobody knows */
	DEPARTURE_BEGUN, /* it exits, or SIGKILL waits for it */
	DEPARTURE_OVER, /* it has ended, and its memory is back */
};

/*
 * Where it is, waiting |timeout_ms| at most for its end. A descriptor of -1 is none: without |pidfd| nobody knows, and nothing is
 * waited for; without |stat_fd| only an end is seen. |*status| becomes its status, as wait(2) gives it, if the kernel tells of
 * it now.
 */
enum departure departure_look(int stat_fd, int pidfd, int timeout_ms, int *status);

/*
 * Returns when it is over, or will not be, as when the process becomes another program by exec; after 10 s in any case.
 * Returns where it is then; |*status| as above.
 */
enum departure departure_await(int stat_fd, int pidfd, int *status);

#endif
