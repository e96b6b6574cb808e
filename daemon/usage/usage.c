/* SPDX-License-Identifier: Apache-2.0 */
/* What a process uses; see usage.h. */
#include "daemon/usage/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grow.h"
#include "daemon/kernel/proc_file.h"

/* Of one visit: about 3 µs each. */
#define THREADS_PER_VISIT 128
/* So many samples and readings, 5 MiB together, are kept; then every other one goes, and the pace halves. */
#define MAX_SAMPLES 8192
#define MAX_READINGS (256u << 10)
/* More processes than these share what so many may keep. */
#define MAX_FULL_SHARES 4
/* Less says nothing: of one process, and of one thread. */
#define LEAST_SAMPLES 64
#define LEAST_READINGS 8
/* A pass over very many threads takes at most a twentieth of this server's time. */
#define REST_FACTOR 20

static void set(struct usage_sample *s, enum usage_metric metric, uint64_t value)
{
	s->value[metric] = value;
	s->known |= 1u << metric;
}

/* To the nanosecond, where /proc counts in ticks of 10 ms; threads that have ended are in it. */
static void read_cpu(const struct usage *u, const struct proc_stat *stat, struct usage_sample *s)
{
	struct timespec t;

	if (u->has_cpu_clock && clock_gettime(u->cpu_clock, &t) == 0)
		set(s, USAGE_CPU, (uint64_t)(t.tv_sec * NS_PER_S + t.tv_nsec));
	else if (!u->has_cpu_clock)
		set(s, USAGE_CPU, stat->cpu_ticks * (uint64_t)(NS_PER_S / sysconf(_SC_CLK_TCK)));
}

static int read_stat(const struct usage *u, struct usage_sample *s)
{
	struct proc_stat stat;
	char text[1024];
	int r = u->stat_fd < 0 ? -ENOENT : proc_file_reread(u->stat_fd, text, sizeof text);

	if (!r)
		r = proc_stat_parse(text, &stat);
	if (r)
		return r;
	read_cpu(u, &stat, s);
	set(s, USAGE_THREADS, stat.n_threads);
	set(s, USAGE_MINOR_FAULTS, stat.minor_faults);
	set(s, USAGE_MAJOR_FAULTS, stat.major_faults);
	/* When the first thread has ended before the others its memory cannot be seen here. */
	if (stat.state != 'Z')
		set(s, USAGE_RSS, stat.rss_pages * (uint64_t)sysconf(_SC_PAGESIZE));
	return 0;
}

static void read_io(struct usage *u, struct usage_sample *s)
{
	struct proc_io io;
	char text[512];
	int r;

	if (u->io_fd < 0)
		return;
	r = proc_file_reread(u->io_fd, text, sizeof text);
	if (!u->io_error)
		u->io_error = r;
	if (r || proc_io_parse(text, &io))
		return;
	set(s, USAGE_READ, io.read_bytes);
	set(s, USAGE_WRITTEN, io.written_bytes);
	set(s, USAGE_DISK_READ, io.disk_read_bytes);
	set(s, USAGE_DISK_WRITTEN, io.disk_written_bytes);
}

static void add_threads(const struct usage *u, struct usage_sample *s)
{
	if (!u->threads.dir || u->threads.has_no_schedstat)
		return;
	set(s, USAGE_CPU_WAIT, u->threads.wait_ns);
	set(s, USAGE_SWITCHES, u->threads.n_switches);
}

static void take_sample(struct usage *u)
{
	struct usage_sample s = {0};

	if (read_stat(u, &s))
		return;
	if (grow(&u->samples, &u->n_allocated, u->n_samples + 1)) {
		u->error = -ENOMEM;
		return;
	}
	read_io(u, &s);
	add_threads(u, &s);
	s.at_ns = monotonic_ns();
	u->samples[u->n_samples++] = s;
}

/* Whether this one keeps its share of |most|, and not less than |least|. */
static int has_share(const struct usage *u, size_t n, size_t most, size_t least)
{
	size_t share =
		u->n_sharing > MAX_FULL_SHARES ? MAX_FULL_SHARES * most / u->n_sharing : most;

	return n >= share && n >= least;
}

/* A capture of hours, or of very many processes, keeps what fits. */
static void thin(struct usage *u)
{
	if (!has_share(u, u->n_samples, MAX_SAMPLES, LEAST_SAMPLES) &&
		!has_share(u, u->threads.n_readings, MAX_READINGS, LEAST_READINGS * u->threads.n))
		return;
	for (size_t i = 0; 2 * i < u->n_samples; i++)
		u->samples[i] = u->samples[2 * i];
	u->n_samples = (u->n_samples + 1) / 2;
	usage_threads_thin(&u->threads);
	u->interval_ns *= 2;
}

void usage_open(struct usage *u, const char *root, pid_t pid, int64_t interval_ms)
{
	char path[512];

	memset(u, 0, sizeof *u);
	u->pid = pid;
	u->dir_fd = u->stat_fd = u->io_fd = -1;
	if (interval_ms <= 0)
		return;
	if (interval_ms < USAGE_MIN_INTERVAL_MS)
		interval_ms = USAGE_MIN_INTERVAL_MS;
	u->interval_ns = interval_ms * NS_PER_MS;
	snprintf(path, sizeof path, "%s/proc/%d", root, (int)pid);
	u->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (u->dir_fd < 0)
		return;
	u->stat_fd = openat(u->dir_fd, "stat", O_RDONLY | O_CLOEXEC);
	u->io_fd = openat(u->dir_fd, "io", O_RDONLY | O_CLOEXEC);
	u->io_error = u->io_fd < 0 ? -errno : 0;
	u->has_cpu_clock = clock_getcpuclockid(pid, &u->cpu_clock) == 0;
	usage_threads_open(&u->threads, u->dir_fd);
	take_sample(u);
	usage_visit(u);
}

static void close_file(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_files(struct usage *u)
{
	usage_threads_close(&u->threads);
	close_file(&u->io_fd);
	close_file(&u->stat_fd);
	close_file(&u->dir_fd);
}

void usage_close(struct usage *u)
{
	close_files(u);
	usage_threads_free(&u->threads);
	free(u->samples);
	u->samples = NULL;
	u->n_samples = u->n_allocated = 0;
}

/* The first pass only tells where the threads begin; each later one ends in a sample. */
static void end_pass(struct usage *u, int is_first, int64_t now_ns)
{
	int64_t rest_ns = REST_FACTOR * u->spent_ns;

	if (!is_first)
		take_sample(u);
	thin(u);
	u->due_ns += u->interval_ns;
	if (u->due_ns < now_ns + rest_ns)
		u->due_ns = now_ns + rest_ns;
	u->spent_ns = 0;
}

void usage_visit(struct usage *u)
{
	int64_t begin_ns = monotonic_ns();
	int is_first = u->due_ns == 0;
	int is_complete;

	if (u->dir_fd < 0 || (!u->threads.is_in_pass && begin_ns < u->due_ns))
		return;
	is_complete = usage_threads_read(&u->threads, THREADS_PER_VISIT);
	u->spent_ns += monotonic_ns() - begin_ns;
	if (!is_complete)
		return;
	if (is_first)
		u->due_ns = begin_ns;
	end_pass(u, is_first, monotonic_ns());
}

/*
 * In place of one that was taken just before: the kernel brings the times of threads that run up to date only
 * every few milliseconds, so a rate over a short time says nothing.
 */
static void take_last_sample(struct usage *u)
{
	size_t n = u->n_samples;
	int64_t before_ns = n >= 2 ? u->samples[n - 1].at_ns : 0;

	u->threads.merge_ns = u->interval_ns / 2;
	/* A pass that is under way read some threads long ago. */
	if (u->threads.is_in_pass)
		usage_threads_read(&u->threads, SIZE_MAX);
	usage_threads_read(&u->threads, SIZE_MAX);
	take_sample(u);
	if (n < 2 || u->n_samples == n || u->samples[n].at_ns - before_ns >= u->interval_ns / 2)
		return;
	u->samples[n - 1] = u->samples[n];
	u->n_samples--;
}

void usage_finish(struct usage *u, int is_gone)
{
	if (u->dir_fd < 0)
		return;
	if (!is_gone)
		take_last_sample(u);
	usage_threads_rank(&u->threads);
	close_files(u);
}
