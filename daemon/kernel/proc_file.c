/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a process under /proc; see proc_file.h and proc(5). */
#include "daemon/kernel/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/scan.h"

#define PF_EXITING 4u /* from the kernel's <linux/sched.h>, to which proc_pid_stat(5) refers */

/* |p| begins after the name. */
static int parse_stat(const char *p, struct proc_stat *s)
{
	uint64_t user, system, reaped_user, reaped_system;

	scan_blanks(&p);
	if (!*p || *p == '\n')
		return 0;
	s->state = *p++;
	if (!scan_number(&p, &s->parent) || !scan_words(&p, 5) ||
		!scan_number(&p, &s->minor_faults) || !scan_number(&p, &s->reaped_minor_faults) ||
		!scan_number(&p, &s->major_faults) || !scan_number(&p, &s->reaped_major_faults) ||
		!scan_number(&p, &user) || !scan_number(&p, &system) ||
		!scan_number(&p, &reaped_user) || !scan_number(&p, &reaped_system) ||
		!scan_words(&p, 2) || !scan_number(&p, &s->n_threads) || !scan_words(&p, 1) ||
		!scan_number(&p, &s->start_ticks) || !scan_words(&p, 1) ||
		!scan_number(&p, &s->rss_pages))
		return 0;
	s->cpu_ticks = user + system;
	s->reaped_cpu_ticks = reaped_user + reaped_system;
	return 1;
}

int proc_stat_parse(const char *text, struct proc_stat *out)
{
	/* No field after the name has a parenthesis. */
	const char *end = strrchr(text, ')');
	struct proc_stat s;

	if (!end || !parse_stat(end + 1, &s))
		return -EINVAL;
	*out = s;
	return 0;
}

bool proc_stat_is_ending(const char *text)
{
	const char *end = strrchr(text, ')');
	uint64_t flags;
	uint64_t pending; /* pending signals */

	return end &&
	       sscanf(end + 1,
		       " %*s %*s %*s %*s %*s %*s %" SCNu64
		       " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		       "%*s %*s %*s %" SCNu64,
		       &flags, &pending) == 2 &&
	       (flags & PF_EXITING || pending & UINT64_C(1) << (SIGKILL - 1));
}

int proc_io_parse(const char *text, struct proc_io *out)
{
	struct proc_io io;

	if (sscanf(text,
		    "rchar: %" SCNu64 " wchar: %" SCNu64
		    " syscr: %*s syscw: %*s read_bytes: %" SCNu64 " write_bytes: %" SCNu64,
		    &io.read_bytes, &io.written_bytes, &io.disk_read_bytes,
		    &io.disk_written_bytes) != 4)
		return -EINVAL;
	*out = io;
	return 0;
}

int proc_schedstat_parse(const char *text, struct proc_schedstat *out)
{
	struct proc_schedstat s;

	if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &s.run_ns, &s.wait_ns,
		    &s.n_switches) != 3)
		return -EINVAL;
	*out = s;
	return 0;
}

int proc_file_reread(int fd, char *text, size_t size)
{
	ssize_t n = pread(fd, text, size - 1, 0);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	return 0;
}

/* Parses the last number of the line. */
pid_t proc_status_find_inner_id(const char *text)
{
	const char *line = strstr(text, "\nNSpid:");
	const char *last;

	if (!line)
		return 0;
	line++;
	last = line + strcspn(line, "\n");
	while (last > line && last[-1] >= '0' && last[-1] <= '9')
		last--;
	return atoi(last);
}

int proc_file_read(int dir_fd, const char *path, char *text, size_t size)
{
	_cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : proc_file_reread(fd, text, size);
}

uint64_t proc_rss_read(int statm_fd, const struct proc_stat *stat)
{
	char text[128];
	uint64_t n_pages;

	if (statm_fd < 0 || proc_file_reread(statm_fd, text, sizeof text) ||
		sscanf(text, "%*u %" SCNu64, &n_pages) != 1)
		return stat->rss_pages;
	return n_pages;
}

bool proc_is_stopped(pid_t pid)
{
	char path[32];
	char text[1024];
	struct proc_stat stat;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (proc_file_read(AT_FDCWD, path, text, sizeof text) || proc_stat_parse(text, &stat))
		return false;
	return stat.state == 'T' || stat.state == 't';
}

/* --- pss -------------------------------------------------------------------------------------- */

int pss_read(const char *root, pid_t pid, uint64_t *bytes)
{
	char path[512];
	char text[4096];
	uint64_t kib;
	int r;

	snprintf(path, sizeof path, "%s/proc/%d/smaps_rollup", root, (int)pid);
	r = proc_file_read(AT_FDCWD, path, text, sizeof text);
	if (r)
		return r;
	for (const char *line = text; line; line = scan_next_line(line)) {
		const char *p = line;

		if (!scan_text(&p, "Pss:") || !scan_number(&p, &kib))
			continue;
		*bytes = kib * 1024;
		return 0;
	}
	return -EINVAL;
}
