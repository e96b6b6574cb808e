/* SPDX-License-Identifier: Apache-2.0 */
/* Context switches of a process; see switches.h. */
#include "daemon/host/machine/switches.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "daemon/kernel/proc_file.h"

static int read_thread(int dir_fd, const char *path, uint64_t *sum)
{
	struct proc_schedstat s;
	char text[128];

	if (proc_file_read(dir_fd, path, text, sizeof text) || proc_schedstat_parse(text, &s))
		return 0;
	*sum += s.n_switches;
	return 1;
}

/* The names that getdents64() wrote: opendir() would take memory. */
static unsigned read_entries(int task_fd, const char *text, size_t n, uint64_t *sum)
{
	unsigned n_read = 0;

	for (size_t at = 0; at < n;) {
		const struct dirent64 *entry = (const struct dirent64 *)(const void *)(text + at);
		char path[300];

		snprintf(path, sizeof path, "%s/schedstat", entry->d_name);
		if (isdigit((unsigned char)entry->d_name[0]))
			n_read += (unsigned)read_thread(task_fd, path, sum);
		at += entry->d_reclen;
	}
	return n_read;
}

int switches_read(int dir_fd, uint64_t n_threads, char *text, size_t text_bytes, uint64_t *out)
{
	_cleanup_close_ int task_fd = -1;
	unsigned n_read = 0;
	long n;

	*out = 0;
	/* A process's own file is its first thread's. */
	if (n_threads == 1)
		return read_thread(dir_fd, "schedstat", out);
	task_fd = openat(dir_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (task_fd < 0)
		return 0;
	while ((n = syscall(SYS_getdents64, task_fd, text, text_bytes)) > 0)
		n_read += read_entries(task_fd, text, (size_t)n, out);
	return n_read > 0;
}
