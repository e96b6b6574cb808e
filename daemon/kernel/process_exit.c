/* SPDX-License-Identifier: Apache-2.0 */
/* Exits of processes; see process_exit.h and proc_pid_stat(5). */
#include "daemon/kernel/process_exit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/kernel/proc_file.h"

/* From <linux/pidfd.h> of Linux 6.15. */
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

int exit_status_parse(const char *stat)
{
	const char *last = strrchr(stat, ' ');
	int status = 0;

	/* The kernel writes 0 if we have no permission to read the status. */
	return last && sscanf(last, "%d", &status) == 1 && status > 0 ? status : -ENODATA;
}

static int read_file(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return proc_file_read(AT_FDCWD, path, text, size);
}

static int stat_read_status(int fd)
{
	char text[STAT_BYTES];
	int r = proc_file_reread(fd, text, sizeof text);

	return r ? r : exit_status_parse(text);
}

static int pidfd_read_status(int pidfd)
{
	struct info info = {.mask = INFO_EXIT};

	if (pidfd < 0 || ioctl(pidfd, GET_INFO, &info) || !(info.mask & INFO_EXIT))
		return -ENODATA;
	return info.status;
}

int exit_status_find(int stat_fd, int pidfd)
{
	int status = stat_read_status(stat_fd);

	if (status < 0)
		status = pidfd_read_status(pidfd);
	return status < 0 ? -ENODATA : status;
}

/* --- Statuses of 0 --------------------------------------------------------------------------- */

uint64_t process_find_start(pid_t pid)
{
	char text[STAT_BYTES];
	struct proc_stat stat;
	int r = read_file(pid, "stat", text, sizeof text);

	return r || proc_stat_parse(text, &stat) ? 0 : stat.start_ticks;
}

/*
 * Returns true if the line |key| has |id| four times: real, effective, saved, and file system id.
 */
static bool status_has_only(const char *status, const char *key, unsigned id)
{
	const char *line = strstr(status, key);
	unsigned v[4];

	return line && sscanf(line + strlen(key), "%u %u %u %u", v, v + 1, v + 2, v + 3) == 4 &&
	       v[0] == id && v[1] == id && v[2] == id && v[3] == id;
}

/*
 * The kernel shows a process's exit status only to matching users: see ptrace(2), "access mode
 * checking".
 */
static bool process_has_our_ids(pid_t pid)
{
	char text[STATUS_BYTES];

	return read_file(pid, "status", text, sizeof text) == 0 &&
	       status_has_only(text, "\nUid:", geteuid()) &&
	       status_has_only(text, "\nGid:", getegid());
}

/*
 * The process may have capabilities that we do not have. The kernel makes the same check for this
 * link as for the exit status, even for a zombie.
 */
static bool process_is_readable(pid_t pid)
{
	char path[64];
	char byte;

	snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
	return readlink(path, &byte, sizeof byte) >= 0;
}

/*
 * Read the ids before the start time: if that is unchanged afterwards, the ids belonged to the same
 * process.
 */
static bool process_is_clean_zombie(pid_t pid, uint64_t start)
{
	bool is_ours = process_has_our_ids(pid) && process_is_readable(pid);
	char text[STAT_BYTES];
	struct proc_stat stat;
	int status = -1;

	if (!is_ours || read_file(pid, "stat", text, sizeof text) || proc_stat_parse(text, &stat))
		return false;
	return stat.state == 'Z' && stat.start_ticks == start &&
	       sscanf(strrchr(text, ' '), "%d", &status) == 1 && status == 0;
}

bool exit_status_is_zero(pid_t pid, int pidfd, uint64_t start)
{
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};

	if (pidfd < 0 || poll(&ended, 1, 0) != 1 || !(ended.revents & POLLIN))
		return false;
	return (start && process_is_clean_zombie(pid, start)) || pidfd_read_status(pidfd) == 0;
}

/* --- Text ------------------------------------------------------------------------------------ */

void exit_status_describe(int status, char *text, size_t size)
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

/* --- Waiting for the end --------------------------------------------------------------------- */

#define STAT_BYTES 1024
/* With 100 GB of memory, an exit takes seconds. Closing a file can take for ever. */
#define MAX_ENDING_NS (10 * NS_PER_S)
/*
 * Threads also end when the process calls exec. After exit() was called, it may take a moment until
 * the process itself ends.
 */
#define MAX_LIVING_NS (20 * NS_PER_MS)
#define POLL_MS 1

int process_exit_open(pid_t pid)
{
	char path[32];
	char text[STAT_BYTES];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		proc_file_reread(fd, text, sizeof text);
	return fd;
}

enum process_exit process_exit_poll(int stat_fd, int pidfd, int timeout_ms, int *status)
{
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};
	char text[STAT_BYTES] = "";
	int found;

	if (pidfd < 0)
		return PROCESS_EXIT_NONE;
	proc_file_reread(stat_fd, text, sizeof text);
	found = exit_status_parse(text);
	if (found >= 0)
		*status = found;
	if (poll(&ended, 1, timeout_ms) == 1)
		return PROCESS_EXIT_OVER;
	return proc_stat_is_ending(text) ? PROCESS_EXIT_BEGUN : PROCESS_EXIT_NONE;
}

enum process_exit process_exit_await(int stat_fd, int pidfd, int *status)
{
	int64_t now_ns = monotonic_ns();
	int64_t give_up_ns = now_ns + MAX_ENDING_NS;
	/* the process counts as alive if no sign of an exit is seen by then */
	int64_t lives_ns = now_ns + MAX_LIVING_NS;
	enum process_exit where;

	do {
		where = process_exit_poll(stat_fd, pidfd, POLL_MS, status);
		now_ns = monotonic_ns();
		if (where == PROCESS_EXIT_BEGUN)
			lives_ns = now_ns + MAX_LIVING_NS;
	} while (pidfd >= 0 && where != PROCESS_EXIT_OVER && now_ns < lives_ns &&
		 now_ns < give_up_ns);
	return where;
}

/* --- pidfd ------------------------------------------------------------------------------------ */

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
