/* SPDX-License-Identifier: Apache-2.0 */
/* Pidfds from other processes; see pidfd.h. */
#include "daemon/kernel/pidfd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "daemon/kernel/proc_file.h"

pid_t pidfd_find_pid(int pidfd)
{
	char path[64];
	char text[1024];
	const char *line;
	int pid;

	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", pidfd);
	if (proc_file_read(AT_FDCWD, path, text, sizeof text))
		return 0;
	line = strstr(text, "\nPid:");
	if (!line || sscanf(line, "\nPid: %d", &pid) != 1)
		return -EBADF;
	return pid > 0 ? pid : 0;
}

bool pidfd_has_ended(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	return pidfd >= 0 && poll(&p, 1, 0) > 0;
}
