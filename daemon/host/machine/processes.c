/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs that have announced themselves, each with all its descendants. /proc/PID/stat of the
 * program itself is kept open, so that it never becomes another program's; process_tree.h reads the
 * descendants, and switches_read() the context switches of the program's own threads.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/host/machine/history.h"
#include "daemon/host/machine/machine.h"
#include "daemon/host/machine/source.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/kernel/process_tree.h"

/* --- switches --------------------------------------------------------------------------------- */

/* Counting more threads would cost too much. */
#define SWITCHES_MAX_THREADS 1024u

static int read_thread(int dir_fd, const char *path, uint64_t *sum)
{
	struct proc_schedstat s;
	char text[128];

	if (proc_file_read(dir_fd, path, text, sizeof text) || proc_schedstat_parse(text, &s))
		return 0;
	*sum += s.n_switches;
	return 1;
}

/* Reads the names that getdents64() wrote. opendir() would allocate memory. */
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

/*
 * Adds up the switches of the living threads, about |n_threads|; the sum gets smaller when a thread
 * ends. |dir_fd| is /proc/PID, and |text| is a buffer. Returns false if they cannot be read. Takes
 * no memory.
 */
static bool switches_read(
	int dir_fd, uint64_t n_threads, char *text, size_t text_bytes, uint64_t *out)
{
	_cleanup_close_ int task_fd = -1;
	unsigned n_read = 0;
	long n;

	*out = 0;
	/* The process's schedstat is that of its first thread. */
	if (n_threads == 1)
		return read_thread(dir_fd, "schedstat", out);
	task_fd = openat(dir_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (task_fd < 0)
		return false;
	while ((n = syscall(SYS_getdents64, task_fd, text, text_bytes)) > 0)
		n_read += read_entries(task_fd, text, (size_t)n, out);
	return n_read > 0;
}

/* A sample reads the switches of about this number of threads, 3 µs each. */
#define SWEPT_THREADS 32u
/*
 * The limit of processes and threads that a sample reads to find descendants, for all programs
 * together: about 8 µs each.
 */
#define FAMILY_FILES 128u

enum {
	CPU,
	RSS,
	THREADS,
	MINOR_FAULTS,
	MAJOR_FAULTS,
	SWITCHES,
	N_ROWS
};

static const struct metric rows[N_ROWS] = {
	[CPU] = {"cpu", METRIC_PERCENT, METRIC_RATE, 1e-7}, /* share of one processor, from ns */
	[RSS] = {"rss", METRIC_BYTES, METRIC_GAUGE, 1},
	[THREADS] = {"threads", METRIC_COUNT, METRIC_GAUGE, 1},
	[MINOR_FAULTS] = {"minor faults", METRIC_PER_S, METRIC_RATE, 1},
	[MAJOR_FAULTS] = {"major faults", METRIC_PER_S, METRIC_RATE, 1},
	[SWITCHES] = {"context switches", METRIC_PER_S, METRIC_RATE, 1},
};
const struct metric_group machine_process_group = {"process", rows, N_ROWS, N_ROWS, NULL};

struct process {
	uint64_t id;
	int dir_fd;
	int stat_fd;
	int statm_fd;
	uint64_t n_threads;
	struct process_tree *descent; /* NULL: not opened yet */
	struct proc_stat stat; /* of the program itself */
	struct proc_stat at_open; /* the stat when |descent| was opened */
	struct subject *subject; /* during a sample; NULL: it could not be read */
};

struct processes {
	const struct machine_config *config;
	uint64_t tick_ns;
	double page_bytes;
	struct machine_process listed[MACHINE_MAX_PROCESSES];
	struct process v[MACHINE_MAX_PROCESSES]; /* by id */
	size_t n;
	uint64_t swept_id; /* the last program whose switches were counted */
	uint64_t family_id; /* the last program whose descendants were all read */
};

static void open_processes(void *state, const struct machine_config *config)
{
	struct processes *all = state;

	all->config = config;
	all->tick_ns = (uint64_t)(NS_PER_S / sysconf(_SC_CLK_TCK));
	all->page_bytes = (double)sysconf(_SC_PAGESIZE);
}

/* --- the list of programs --------------------------------------------------------------------- */

static void processes_remove(struct processes *all, size_t i)
{
	source_close_file(&all->v[i].statm_fd);
	source_close_file(&all->v[i].stat_fd);
	source_close_file(&all->v[i].dir_fd);
	if (all->v[i].descent)
		process_tree_close(all->v[i].descent);
	free(all->v[i].descent);
	all->n--;
	memmove(&all->v[i], &all->v[i + 1], (all->n - i) * sizeof *all->v);
}

static void processes_add(struct processes *all, size_t i, const struct machine_process *listed)
{
	struct process *p = &all->v[i];
	char path[64];

	memmove(p + 1, p, (all->n - i) * sizeof *p);
	all->n++;
	*p = (struct process){.id = listed->id, .stat_fd = -1, .statm_fd = -1};
	snprintf(path, sizeof path, "/proc/%d", (int)listed->pid);
	p->dir_fd = source_open_file(all->config->root, path);
	if (p->dir_fd < 0)
		return;
	p->stat_fd = openat(p->dir_fd, "stat", O_RDONLY | O_CLOEXEC);
	p->statm_fd = openat(p->dir_fd, "statm", O_RDONLY | O_CLOEXEC);
}

/* Both lists are sorted by id. */
static void follow_list(struct processes *all, size_t n_listed)
{
	for (size_t i = 0; i < n_listed; i++) {
		while (i < all->n && all->v[i].id < all->listed[i].id)
			processes_remove(all, i);
		if (i == all->n || all->v[i].id > all->listed[i].id) {
			if (all->n == MACHINE_MAX_PROCESSES)
				processes_remove(all, all->n - 1);
			processes_add(all, i, &all->listed[i]);
		}
	}
	while (all->n > n_listed)
		processes_remove(all, all->n - 1);
}

/* --- their usage ------------------------------------------------------------------------------ */

static struct subject *touch_program(struct history *h, const struct machine_process *listed)
{
	struct subject *s = history_touch(h, &machine_process_group, listed->id, listed->name);

	if (s) {
		s->pid = listed->pid;
		s->uid = listed->uid;
	}
	return s;
}

static void take_own_usage(const struct processes *all, const struct process *p, struct subject *s,
	const struct proc_stat *stat, int64_t now_ns)
{
	subject_count(s, CPU, stat->cpu_ticks * all->tick_ns, now_ns);
	subject_count(s, MINOR_FAULTS, stat->minor_faults, now_ns);
	subject_count(s, MAJOR_FAULTS, stat->major_faults, now_ns);
	subject_set(s, THREADS, (double)stat->n_threads);
	/* If the first thread ended before the others, the program's memory cannot be read here. */
	if (stat->state != 'Z')
		subject_set(s, RSS, (double)proc_rss_read(p->statm_fd, stat) * all->page_bytes);
}

/* Repeats the last values until all descendants are read again. */
static void repeat_family(struct subject *s)
{
	for (unsigned row = 0; row < SWITCHES; row++)
		subject_repeat(s, row);
}

static void take_family(const struct processes *all, struct process *p, int64_t now_ns)
{
	const struct process_tree *d = p->descent;
	const uint64_t *total = d->total;

	/*
	 * The totals begin when |descent| is opened. The program's own usage until then is added,
	 * so that its counts continue without a jump.
	 */
	subject_count(p->subject, CPU,
		p->at_open.cpu_ticks * all->tick_ns + total[PROCESS_TREE_CPU], now_ns);
	subject_count(p->subject, MINOR_FAULTS,
		p->at_open.minor_faults + total[PROCESS_TREE_MINOR_FAULTS], now_ns);
	subject_count(p->subject, MAJOR_FAULTS,
		p->at_open.major_faults + total[PROCESS_TREE_MAJOR_FAULTS], now_ns);
	subject_set(p->subject, THREADS, (double)d->n_threads);
	subject_set(p->subject, RSS, (double)d->rss_bytes);
}

/* Returns true if no more can be read in this sample. */
static bool visit_family(
	const struct processes *all, struct process *p, size_t n_files, int64_t now_ns)
{
	if (!p->descent) {
		p->descent = calloc(1, sizeof *p->descent);
		if (!p->descent)
			return true;
		p->at_open = p->stat;
		process_tree_open(p->descent, all->config->root, all->listed[p - all->v].pid);
	} else if (process_tree_visit(p->descent, n_files) > 0 && p->descent->has_family) {
		take_family(all, p, now_ns);
	}
	return p->descent->dir != NULL;
}

/* Reads all descendants of one program, then those of the next. */
static void sweep_families(struct processes *all, const struct sampling *sampling)
{
	size_t n_left = FAMILY_FILES;
	size_t first = 0;

	while (first < all->n && all->v[first].id <= all->family_id)
		first++;
	for (size_t i = 0; i < all->n && n_left; i++) {
		struct process *p = &all->v[(first + i) % all->n];
		size_t n_read;

		if (!p->subject)
			continue;
		if (visit_family(all, p, n_left, sampling->now_ns))
			break;
		all->family_id = p->id;
		/* A pass also reads a file of each thread, to find children. */
		n_read = p->descent->n_read + p->n_threads;
		p->descent->n_read = 0;
		n_left -= n_read < n_left ? n_read : n_left;
	}
}

static void take_program(struct processes *all, size_t i, const struct sampling *sampling)
{
	struct process *p = &all->v[i];
	struct proc_stat stat;
	struct subject *s;

	if (!source_read_file(p->stat_fd, sampling) || proc_stat_parse(sampling->text, &stat))
		return;
	s = touch_program(sampling->history, &all->listed[i]);
	if (!s)
		return;
	p->n_threads = stat.n_threads;
	if (p->descent && p->descent->has_family)
		repeat_family(s);
	else
		take_own_usage(all, p, s, &stat, sampling->now_ns);
	subject_repeat(s, SWITCHES);
	p->stat = stat;
	p->subject = s;
}

static void take_switches(struct process *p, const struct sampling *sampling)
{
	uint64_t total;

	if (!switches_read(p->dir_fd, p->n_threads, sampling->text, sampling->text_bytes, &total))
		return;
	subject_set(p->subject, SWITCHES, (double)NAN);
	subject_count(p->subject, SWITCHES, total, sampling->now_ns);
}

/* Reads the switches of some threads in each sample, one program after another. */
static void sweep_switches(struct processes *all, const struct sampling *sampling)
{
	uint64_t n_read = 0;
	size_t first = 0;

	while (first < all->n && all->v[first].id <= all->swept_id)
		first++;
	for (size_t i = 0; i < all->n && n_read < SWEPT_THREADS; i++) {
		struct process *p = &all->v[(first + i) % all->n];

		all->swept_id = p->id;
		if (!p->subject || p->n_threads > SWITCHES_MAX_THREADS)
			continue;
		take_switches(p, sampling);
		n_read += p->n_threads;
	}
}

static void read_processes(void *state, const struct sampling *sampling)
{
	struct processes *all = state;
	const struct machine_config *config = all->config;
	size_t n;

	if (sampling->history->peek != PEEK_NONE)
		return;
	n = config->list ? config->list(config->context, all->listed, MACHINE_MAX_PROCESSES) : 0;
	follow_list(all, n);
	for (size_t i = 0; i < all->n; i++) {
		all->v[i].subject = NULL;
		take_program(all, i, sampling);
	}
	sweep_switches(all, sampling);
	sweep_families(all, sampling);
}

static void close_processes(void *state)
{
	struct processes *all = state;

	while (all->n)
		processes_remove(all, all->n - 1);
}

const struct machine_source source_processes = {
	sizeof(struct processes), open_processes, read_processes, close_processes};
