/* SPDX-License-Identifier: Apache-2.0 */
/* The usage of a process; see usage.h. */
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

/* The most threads that a visit reads, at about 3 µs each. */
#define THREADS_PER_VISIT 128
/*
 * The most samples and readings, 7 MiB together. Beyond them every other one is dropped and the
 * interval doubles.
 */
#define MAX_SAMPLES 8192
#define MAX_READINGS (256u << 10)
/* If there are more processes, all together get the memory of this many. */
#define MAX_FULL_SHARES 4
/* The fewest that a process and a thread keep: fewer would show nothing. */
#define LEAST_SAMPLES 64
#define LEAST_READINGS 8
/* The most processes that a visit reads, at about 8 µs each. */
#define PROCESSES_PER_VISIT 48
/* The pause between two searches for the first descendant. */
#define CHILDLESS_INTERVAL_NS (500 * NS_PER_MS)
/* A pass over very many threads takes at most a twentieth of this server's time. */
#define REST_FACTOR 20

static void set_value(struct usage_sample *s, enum usage_metric metric, uint64_t value)
{
	s->value[metric] = value;
	s->known |= 1u << metric;
}

/* The process's clock counts nanoseconds, also of ended threads; /proc counts ticks of 10 ms. */
static void read_cpu(const struct usage *u, const struct proc_stat *stat, struct usage_sample *s)
{
	struct timespec t;

	if (u->has_cpu_clock && clock_gettime(u->cpu_clock, &t) == 0)
		set_value(s, USAGE_CPU, (uint64_t)(t.tv_sec * NS_PER_S + t.tv_nsec));
	else if (!u->has_cpu_clock)
		set_value(s, USAGE_CPU,
			stat->cpu_ticks * (uint64_t)(NS_PER_S / sysconf(_SC_CLK_TCK)));
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
	set_value(s, USAGE_THREADS, stat.n_threads);
	set_value(s, USAGE_MINOR_FAULTS, stat.minor_faults);
	set_value(s, USAGE_MAJOR_FAULTS, stat.major_faults);
	/* If the first thread ended before the others, the files do not show the memory. */
	if (stat.state != 'Z')
		set_value(s, USAGE_RSS,
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
	set_value(s, USAGE_READ, io.read_bytes);
	set_value(s, USAGE_WRITTEN, io.written_bytes);
	set_value(s, USAGE_DISK_READ, io.disk_read_bytes);
	set_value(s, USAGE_DISK_WRITTEN, io.disk_written_bytes);
}

static void add_threads(const struct usage *u, struct usage_sample *s)
{
	if (!u->threads.dir || u->threads.has_no_schedstat)
		return;
	set_value(s, USAGE_CPU_WAIT, u->threads.wait_ns);
	set_value(s, USAGE_SWITCHES, u->threads.n_switches);
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

/* True when |n| has reached this process's share of |most|, or |least| if that is more. */
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

/* Drops every other sample and reading of a very long capture, or of very many processes. */
static void thin_out(struct usage *u)
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
			set_value(&s, metrics[i], d->total[i]);
	set_value(&s, USAGE_THREADS, d->n_threads);
	set_value(&s, USAGE_RSS, d->rss_bytes);
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
 * The last sample replaces the one before if that is less than half an interval older: the
 * kernel updates the times of running threads only every few milliseconds, so a rate over a
 * shorter time means nothing.
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
		/* Ends the present pass first, because it read some processes long ago. */
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

/*
 * The first pass only takes the first reading of each thread; later ones end in a sample. After a
 * late sample the next one is at least half an interval later; see merge_last_sample().
 */
static void end_pass(struct usage *u, bool is_first, int64_t now_ns)
{
	int64_t rest_ns = REST_FACTOR * u->spent_ns;

	if (rest_ns < u->interval_ns / 2)
		rest_ns = u->interval_ns / 2;
	if (!is_first)
		take_sample(u);
	thin_out(u);
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
	/* Ends the present pass first, because it read some threads long ago. */
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

/* --- parts -------------------------------------------------------------------------------- */

/* A thread that was not seen for this many intervals counts as ended. */
#define GONE_INTERVALS 3

static void forget_samples(struct usage *u, int64_t from_ns)
{
	size_t n_old = 0;

	while (n_old + 1 < u->n_samples && u->samples[n_old + 1].at_ns <= from_ns)
		n_old++;
	if (!n_old)
		return;
	u->n_samples -= n_old;
	memmove(u->samples, u->samples + n_old, u->n_samples * sizeof *u->samples);
}

static void forget_readings(struct usage_thread *thread, int64_t from_ns)
{
	size_t n_old = 0;

	while (n_old + 1 < thread->n && thread->v[n_old + 1].at_ns <= from_ns)
		n_old++;
	if (!n_old)
		return;
	thread->n -= n_old;
	memmove(thread->v, thread->v + n_old, thread->n * sizeof *thread->v);
}

static int cut_samples(struct usage *u, struct usage *part)
{
	size_t n = u->n_samples;

	if (!n)
		return 0;
	if (grow(&part->samples, &part->n_allocated, n))
		return -ENOMEM;
	memcpy(part->samples, u->samples, n * sizeof *u->samples);
	part->n_samples = n;
	u->samples[0] = u->samples[n - 1];
	u->n_samples = 1;
	return 0;
}

/* Copies a thread for the part, so that the readings of the original go on. */
static struct usage_thread *copy_thread(const struct usage_thread *thread)
{
	struct usage_thread *copy = malloc(sizeof *copy);

	if (!copy)
		return NULL;
	*copy = *thread;
	copy->v = NULL;
	copy->n_allocated = 0;
	if (grow(&copy->v, &copy->n_allocated, thread->n)) {
		free(copy);
		return NULL;
	}
	if (thread->n)
		memcpy(copy->v, thread->v, thread->n * sizeof *thread->v);
	return copy;
}

static int cut_thread(struct usage_thread *thread, struct usage_threads *part)
{
	struct usage_thread *copy = copy_thread(thread);

	if (!copy || grow(&part->v, &part->n_allocated, part->n + 1)) {
		if (copy)
			free(copy->v);
		free(copy);
		return -ENOMEM;
	}
	part->v[part->n++] = copy;
	part->n_readings += copy->n;
	if (thread->n > 1) {
		thread->v[0] = thread->v[thread->n - 1];
		thread->n = 1;
	}
	return 0;
}

static void forget_gone(struct usage_threads *t, int64_t before_ns)
{
	size_t n = 0;

	t->n_readings = 0;
	for (size_t i = 0; i < t->n; i++) {
		struct usage_thread *thread = t->v[i];

		if (thread->n && thread->v[thread->n - 1].at_ns < before_ns) {
			free(thread->v);
			free(thread);
			continue;
		}
		t->n_readings += thread->n;
		t->v[n++] = thread;
	}
	t->n = n;
}

static int cut_threads(
	struct usage_threads *t, struct usage_threads *part, int64_t from_ns, int64_t interval_ns)
{
	int r = 0;

	for (size_t i = 0; i < t->n && !r; i++)
		r = cut_thread(t->v[i], part);
	for (size_t i = 0; i < part->n; i++)
		forget_readings(part->v[i], from_ns);
	/* The present pass holds tids, no pointers, so the threads may move. */
	forget_gone(t, t->last_pass_ns - GONE_INTERVALS * interval_ns);
	usage_threads_rank(part);
	return r;
}

static int cut_family(struct usage *u, struct usage *part, int64_t from_ns)
{
	int r;

	if (!u->family)
		return 0;
	part->family = calloc(1, sizeof *part->family);
	if (!part->family)
		return -ENOMEM;
	part->family->has_descendants = u->family->has_descendants;
	part->n_left_out = u->n_left_out;
	r = cut_samples(u->family, part->family);
	forget_samples(part->family, from_ns);
	return r;
}

int usage_cut(struct usage *u, struct usage *part, int64_t from_ns)
{
	int r;

	usage_open(part, "", u->pid, 0);
	part->interval_ns = u->interval_ns;
	part->n_sharing = u->n_sharing;
	part->io_error = u->io_error;
	part->threads.wait_ns = u->threads.wait_ns;
	part->threads.has_no_schedstat = u->threads.has_no_schedstat;
	r = cut_samples(u, part);
	forget_samples(part, from_ns);
	if (!r)
		r = cut_family(u, part, from_ns);
	if (!r)
		r = cut_threads(&u->threads, &part->threads, from_ns, u->interval_ns);
	if (!r)
		r = cut_threads(&u->children, &part->children, from_ns, u->interval_ns);
	return r;
}
