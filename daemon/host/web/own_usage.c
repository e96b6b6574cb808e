/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's own processor time, memory and descriptors as metrics; see metrics.h. */
#include "daemon/host/web/metrics.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "daemon/host/web/exposition.h"
#include "daemon/kernel/proc_file.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

struct own_usage {
	struct proc_stat stat;
	double boot_s; /* Unix time */
	unsigned n_fds;
	struct rlimit fds;
};

static int count_fds(unsigned *n)
{
	DIR *dir = opendir("/proc/self/fd");

	if (!dir)
		return -1;
	*n = 0;
	while (readdir(dir))
		(*n)++;
	/* Leave out "." and "..", and the descriptor of |dir|. */
	*n -= 3;
	closedir(dir);
	return 0;
}

/* Reads the boot time from the line "btime N" of /proc/stat, behind the lines of the processors. */
static int read_boot_s(double *out)
{
	FILE *file = fopen("/proc/stat", "re");
	char line[256];
	int r = -1;

	while (file && r && fgets(line, sizeof line, file))
		if (strncmp(line, "btime ", 6) == 0) {
			*out = strtod(line + 6, NULL);
			r = 0;
		}
	if (file)
		fclose(file);
	return r;
}

static int own_usage_read(struct own_usage *u)
{
	_cleanup_close_ int statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char text[1024];

	if (proc_file_read(AT_FDCWD, "/proc/self/stat", text, sizeof text) ||
		proc_stat_parse(text, &u->stat))
		return -1;
	u->stat.rss_pages = proc_rss_read(statm_fd, &u->stat);
	return read_boot_s(&u->boot_s) || count_fds(&u->n_fds) || getrlimit(RLIMIT_NOFILE, &u->fds);
}

static double to_seconds(uint64_t ticks)
{
	return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static double get_cpu(const struct own_usage *u)
{
	return to_seconds(u->stat.cpu_ticks);
}

static double get_memory(const struct own_usage *u)
{
	return (double)u->stat.rss_pages * (double)sysconf(_SC_PAGESIZE);
}

static double get_threads(const struct own_usage *u)
{
	return (double)u->stat.n_threads;
}

static double get_fds(const struct own_usage *u)
{
	return u->n_fds;
}

static double get_max_fds(const struct own_usage *u)
{
	return (double)u->fds.rlim_cur;
}

static double get_start(const struct own_usage *u)
{
	return u->boot_s + to_seconds(u->stat.start_ticks);
}

static const struct {
	struct exposition_family family;
	double (*get)(const struct own_usage *u);
} rows[] = {
	{{"process_cpu_seconds", EXPOSITION_COUNTER, "User and system time."}, get_cpu},
	{{"process_resident_memory_bytes", EXPOSITION_GAUGE, "Resident memory."}, get_memory},
	{{"process_threads", EXPOSITION_GAUGE, "Threads."}, get_threads},
	{{"process_open_fds", EXPOSITION_GAUGE, "Open descriptors."}, get_fds},
	{{"process_max_fds", EXPOSITION_GAUGE, "Limit of open descriptors."}, get_max_fds},
	{{"process_start_time_seconds", EXPOSITION_GAUGE, "Start of the process, in Unix time."},
		get_start},
};

void own_usage_write(struct exposition *e)
{
	struct own_usage u;

	if (own_usage_read(&u))
		return;
	for (size_t i = 0; i < N(rows); i++) {
		exposition_open(e, &rows[i].family);
		exposition_value(e, NULL, rows[i].get(&u));
	}
}
