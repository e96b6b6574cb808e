/* SPDX-License-Identifier: Apache-2.0 */
/* Exit statuses; see ending.h and proc_pid_stat(5). */
#include "daemon/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "daemon/proc_file.h"

/* <linux/pidfd.h> of Linux 6.15. */
#define INFO_EXIT (UINT64_C(1) << 3)
struct info {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t ids[11];
	int32_t status;
};
#define GET_INFO _IOWR(0xff, 11, struct info)

_Static_assert(sizeof(struct info) == 64, "the first version of the kernel's");

int ending_parse(const char *stat)
{
	const char *last = strrchr(stat, ' ');
	int status = 0;

	/* Also 0 for who may not know. */
	return last && sscanf(last, "%d", &status) == 1 && status > 0 ? status : -ENODATA;
}

static int read_stat(pid_t pid)
{
	char path[64];
	char text[1024];
	int r;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	r = proc_file_read(AT_FDCWD, path, text, sizeof text);
	return r ? r : ending_parse(text);
}

static int read_info(int pidfd)
{
	struct info info = {.mask = INFO_EXIT};

	if (pidfd < 0 || ioctl(pidfd, GET_INFO, &info) || !(info.mask & INFO_EXIT))
		return -ENODATA;
	return info.status;
}

int ending_find(pid_t pid, int pidfd)
{
	int status = read_stat(pid);

	if (status < 0)
		status = read_info(pidfd);
	return status < 0 ? -ENODATA : status;
}

void ending_describe(int status, char *text, size_t size)
{
	const char *name;

	text[0] = '\0';
	if (status < 0)
		return;
	if (WIFEXITED(status))
		snprintf(text, size, ", with exit status %d", WEXITSTATUS(status));
	if (!WIFSIGNALED(status))
		return;
	name = sigabbrev_np(WTERMSIG(status));
	if (name)
		snprintf(text, size, ", killed by SIG%s", name);
	else
		snprintf(text, size, ", killed by signal %d", WTERMSIG(status));
}
