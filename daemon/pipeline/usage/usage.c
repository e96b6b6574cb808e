/* SPDX-License-Identifier: Apache-2.0 */
/* What a process uses; see usage.h. */
#include "daemon/pipeline/usage/usage.h"

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
/* So many samples and readings, 7 MiB together, are kept; then every other one goes, and the pace halves. */
#define MAX_SAMPLES 8192
#define MAX_READINGS (256u << 10)
/* More processes than these share what so many may keep. */
#define MAX_FULL_SHARES 4
/* Less says nothing: of one process, and of one thread. */
#define LEAST_SAMPLES 64
#define LEAST_READINGS 8
/* So many processes are read in a visit: about 8 µs each. */
#define PROCESSES_PER_VISIT 48
/* The pause between two looks for the first descendant. */
#define CHILDLESS_INTERVAL_NS (500 * NS_PER_MS)
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
		set(s, USAGE_RSS,
			proc_rss_read(u->statm_fd, &stat) * (uint64_t)sysconf(_SC_PAGESIZE));
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
static bool has_share(const struct usage *u, size_t n, size_t most, size_t least)
{
	size_t share =
		u->n_sharing > MAX_FULL_SHARES ? MAX_FULL_SHARES * most / u->n_sharing : most;

	return n >= share && n >= least;
}

static void thin_samples(struct usage *u)
{
	for (size_t i = 0; 2 * i < u->n_samples; i++)
		u->samples[i] = u->samples[2 * i];
	u->n_samples = (u->n_samples + 1) / 2;
}

/* A capture of hours, or of very many processes, keeps what fits. */
static void thin(struct usage *u)
{
	if (!has_share(u, u->n_samples, MAX_SAMPLES, LEAST_SAMPLES) &&
		!has_share(u, u->threads.n_readings, MAX_READINGS, LEAST_READINGS * u->threads.n))
		return;
	thin_samples(u);
	usage_threads_thin(&u->threads);
	u->interval_ns *= 2;
}

/* --- the process and its descendants ------------------------------------------------------- */

static void take_family_sample(struct usage *u)
{
	static const enum usage_metric metrics[N_PROCESS_TREE_TOTALS] = {
		[PROCESS_TREE_CPU] = USAGE_CPU,
		[PROCESS_TREE_MINOR_FAULTS] = USAGE_MINOR_FAULTS,
		[PROCESS_TREE_MAJOR_FAULTS] = USAGE_MAJOR_FAULTS,
		[PROCESS_TREE_READ] = USAGE_READ,
		[PROCESS_TREE_WRITTEN] = USAGE_WRITTEN,
		[PROCESS_TREE_DISK_READ] = USAGE_DISK_READ,
		[PROCESS_TREE_DISK_WRITTEN] = USAGE_DISK_WRITTEN,
	};
	struct usage *family = u->family;
	const struct process_tree *d = u->descent;
	struct usage_sample s = {.at_ns = monotonic_ns()};

	if (grow(&family->samples, &family->n_allocated, family->n_samples + 1)) {
		u->error = -ENOMEM;
		return;
	}
	for (int i = 0; i < N_PROCESS_TREE_TOTALS; i++)
		if (i < PROCESS_TREE_READ || d->has_io)
			set(&s, metrics[i], d->total[i]);
	set(&s, USAGE_THREADS, d->n_threads);
	set(&s, USAGE_RSS, d->rss_bytes);
	family->samples[family->n_samples++] = s;
	u->n_left_out = d->most_left_out;
	family->has_descendants = d->has_family;
}

static void take_children(struct usage *u)
{
	int64_t now_ns = monotonic_ns();
	struct process_tree_child child;

	for (size_t i = 0; process_tree_get_child(u->descent, i, &child); i++)
		usage_threads_add_process(&u->children, &child, now_ns);
	usage_threads_end_pass(&u->children, now_ns);
	if (u->children.error)
		u->error = u->children.error;
}

static void pace_family(struct usage *u, int64_t now_ns)
{
	int64_t rest_ns = REST_FACTOR * u->family_spent_ns;
	int64_t interval_ns = u->interval_ns;

	if (!u->descent->has_family && interval_ns < CHILDLESS_INTERVAL_NS)
		interval_ns = CHILDLESS_INTERVAL_NS;
	u->family_due_ns = now_ns + (rest_ns > interval_ns ? rest_ns : interval_ns);
	u->family_spent_ns = 0;
}

static void visit_family(struct usage *u)
{
	int64_t begin_ns = monotonic_ns();
	int64_t now_ns;
	int r;

	if (!u->family || (!u->descent->dir && begin_ns < u->family_due_ns))
		return;
	r = process_tree_visit(u->descent, PROCESSES_PER_VISIT);
	now_ns = monotonic_ns();
	u->family_spent_ns += now_ns - begin_ns;
	if (r < 0)
		u->error = r;
	if (!r && u->descent->dir)
		return;
	if (r > 0) {
		take_family_sample(u);
		take_children(u);
	}
	if (has_share(u, u->family->n_samples, MAX_SAMPLES, LEAST_SAMPLES) ||
		has_share(
			u, u->children.n_readings, MAX_READINGS, LEAST_READINGS * u->children.n)) {
		thin_samples(u->family);
		usage_threads_thin(&u->children);
		u->interval_ns *= 2;
	}
	pace_family(u, now_ns);
}

void usage_open_family(struct usage *u, const char *root)
{
	if (u->dir_fd < 0)
		return;
	u->family = calloc(1, sizeof *u->family);
	u->descent = calloc(1, sizeof *u->descent);
	if (!u->family || !u->descent) {
		free(u->family);
		free(u->descent);
		u->family = NULL;
		u->descent = NULL;
		u->error = -ENOMEM;
		return;
	}
	u->family->pid = u->pid;
	u->family->dir_fd = u->family->stat_fd = -1;
	u->family->statm_fd = u->family->io_fd = -1;
	process_tree_open(u->descent, root, u->pid);
	take_family_sample(u);
	take_children(u);
	pace_family(u, monotonic_ns());
}

bool usage_has_family(const struct usage *u)
{
	return u->family && u->family->has_descendants;
}

/*
 * The sample that was just taken, the last one, replaces the one before if that was taken less than half an interval ago: the kernel
 * brings the times of threads that run up to date only every few milliseconds, so a rate over a short time says nothing.
 */
static void merge_last_sample(struct usage *u, int64_t interval_ns)
{
	size_t n = u->n_samples;

	if (n < 3 || u->samples[n - 1].at_ns - u->samples[n - 2].at_ns >= interval_ns / 2)
		return;
	u->samples[n - 2] = u->samples[n - 1];
	u->n_samples--;
}

static void finish_family(struct usage *u, bool is_gone)
{
	if (!u->family)
		return;
	if (!is_gone) {
		/* A pass that is under way ends first: it read some processes long ago. */
		if (u->descent->dir)
			process_tree_visit(u->descent, SIZE_MAX);
		u->children.merge_ns = u->interval_ns / 2;
		if (process_tree_visit(u->descent, SIZE_MAX) > 0) {
			size_t n = u->family->n_samples;

			take_family_sample(u);
			if (u->family->n_samples > n)
				merge_last_sample(u->family, u->interval_ns);
			take_children(u);
		}
	}
	usage_threads_rank(&u->children);
	process_tree_close(u->descent);
}

void usage_open(struct usage *u, const char *root, pid_t pid, int64_t interval_ms)
{
	char path[512];

	memset(u, 0, sizeof *u);
	u->pid = pid;
	u->dir_fd = u->stat_fd = u->statm_fd = u->io_fd = -1;
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
	u->statm_fd = openat(u->dir_fd, "statm", O_RDONLY | O_CLOEXEC);
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
	close_file(&u->statm_fd);
	close_file(&u->stat_fd);
	close_file(&u->dir_fd);
}

void usage_close(struct usage *u)
{
	close_files(u);
	usage_threads_free(&u->threads);
	usage_threads_free(&u->children);
	if (u->descent)
		process_tree_close(u->descent);
	if (u->family)
		free(u->family->samples);
	free(u->descent);
	free(u->family);
	u->descent = NULL;
	u->family = NULL;
	free(u->samples);
	u->samples = NULL;
	u->n_samples = u->n_allocated = 0;
}

/* The first pass only tells where the threads begin; each later one ends in a sample. */
static void end_pass(struct usage *u, bool is_first, int64_t now_ns)
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
	bool is_first = u->due_ns == 0;
	bool is_complete;

	if (u->dir_fd < 0)
		return;
	visit_family(u);
	if (!u->threads.is_in_pass && begin_ns < u->due_ns)
		return;
	is_complete = usage_threads_read(&u->threads, THREADS_PER_VISIT);
	u->spent_ns += monotonic_ns() - begin_ns;
	if (!is_complete)
		return;
	if (is_first)
		u->due_ns = begin_ns;
	end_pass(u, is_first, monotonic_ns());
}

static void take_last_sample(struct usage *u)
{
	size_t n = u->n_samples;

	u->threads.merge_ns = u->interval_ns / 2;
	/* A pass that is under way ends first: it read some threads long ago. */
	if (u->threads.is_in_pass)
		usage_threads_read(&u->threads, SIZE_MAX);
	usage_threads_read(&u->threads, SIZE_MAX);
	take_sample(u);
	if (u->n_samples > n)
		merge_last_sample(u, u->interval_ns);
}

void usage_finish(struct usage *u, bool is_gone)
{
	if (u->dir_fd < 0)
		return;
	if (!is_gone)
		take_last_sample(u);
	finish_family(u, is_gone);
	usage_threads_rank(&u->threads);
	close_files(u);
}
