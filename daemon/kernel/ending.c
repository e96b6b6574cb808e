/* SPDX-License-Identifier: Apache-2.0 */
/* Exit statuses; see ending.h and proc_pid_stat(5). */
#include "daemon/kernel/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/kernel/proc_file.h"

/* <linux/pidfd.h> of Linux 6.15. */
#define INFO_EXIT (UINT64_C(1) << 3)
struct info {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t ids[11];
	int32_t status;
};
#define GET_INFO _IOWR(0xff, 11, struct info)

#define STAT_BYTES 1024
#define STATUS_BYTES 8192

_Static_assert(sizeof(struct info) == 64, "the first version of the kernel's");

int ending_parse(const char *stat)
{
	const char *last = strrchr(stat, ' ');
	int status = 0;

	/* Also 0 for who may not know. */
	return last && sscanf(last, "%d", &status) == 1 && status > 0 ? status : -ENODATA;
}

static int read_file(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return proc_file_read(AT_FDCWD, path, text, size);
}

static int read_stat(int fd)
{
	char text[STAT_BYTES];
	int r = proc_file_reread(fd, text, sizeof text);

	return r ? r : ending_parse(text);
}

static int read_info(int pidfd)
{
	struct info info = {.mask = INFO_EXIT};

	if (pidfd < 0 || ioctl(pidfd, GET_INFO, &info) || !(info.mask & INFO_EXIT))
		return -ENODATA;
	return info.status;
}

int ending_find(int stat_fd, int pidfd)
{
	int status = read_stat(stat_fd);

	if (status < 0)
		status = read_info(pidfd);
	return status < 0 ? -ENODATA : status;
}

/* Statuses of 0. */

uint64_t ending_find_start(pid_t pid)
{
	char text[STAT_BYTES];
	struct proc_stat stat;
	int r = read_file(pid, "stat", text, sizeof text);

	return r || proc_stat_parse(text, &stat) ? 0 : stat.start_ticks;
}

/* All four: real, effective, saved, and of files. */
static int has_only(const char *status, const char *key, unsigned id)
{
	const char *line = strstr(status, key);
	unsigned v[4];

	return line && sscanf(line + strlen(key), "%u %u %u %u", v, v + 1, v + 2, v + 3) == 4 &&
	       v[0] == id && v[1] == id && v[2] == id && v[3] == id;
}

/* Whose status the kernel tells us: as ptrace(2), "access mode checking". */
static int has_our_ids(pid_t pid)
{
	char text[STATUS_BYTES];

	return read_file(pid, "status", text, sizeof text) == 0 &&
	       has_only(text, "\nUid:", geteuid()) && has_only(text, "\nGid:", getegid());
}

/* It may have capabilities that we have not. The kernel asks the same before it shows this link, also a zombie's. */
static int may_be_known(pid_t pid)
{
	char path[64];
	char byte;

	snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
	return readlink(path, &byte, sizeof byte) >= 0;
}

/* The ids first: if it is the same process afterwards, they were its own. */
static int is_clean_zombie(pid_t pid, uint64_t start)
{
	int is_ours = has_our_ids(pid) && may_be_known(pid);
	char text[STAT_BYTES];
	struct proc_stat stat;
	int status = -1;

	if (!is_ours || read_file(pid, "stat", text, sizeof text) || proc_stat_parse(text, &stat))
		return 0;
	return stat.state == 'Z' && stat.start_ticks == start &&
	       sscanf(strrchr(text, ' '), "%d", &status) == 1 && status == 0;
}

int ending_is_clean(pid_t pid, int pidfd, uint64_t start)
{
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};

	if (pidfd < 0 || poll(&ended, 1, 0) != 1 || !(ended.revents & POLLIN))
		return 0;
	return (start && is_clean_zombie(pid, start)) || read_info(pidfd) == 0;
}

/* Words. */

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
