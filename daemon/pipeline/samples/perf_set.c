/* SPDX-License-Identifier: Apache-2.0 */
/* Perf events of a capture's processes; see perf_set.h and perf_event_open(2). */
#include "daemon/pipeline/samples/perf_set.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/grow.h"
#include "base/scan.h"
#include "daemon/kernel/descriptors.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/pipeline/samples/perf_event.h"
#include "daemon/pipeline/samples/perf_record.h"
#include "daemon/pipeline/samples/perf_repeats.h"
#include "daemon/pipeline/samples/perf_ring.h"

/*
 * With more descriptors than this, the threads of further processes get one event each. Opening
 * 10,000 events takes 80 ms of processor time, and they have 14 MB. An event with a ring of 128 KiB
 * takes the time of six without, and the memory of 90.
 */
#define MAX_FDS 10000
/* It has room for 30 stacks of waiting threads: 300 in a second for each processor. */
#define WAIT_RING_BYTES ((size_t)512 << 10)
/* The rings of processors, or of a process's threads, take this much together, or are minimal. */
#define RINGS_MAX_BYTES ((size_t)128 << 20)
/* A process is searched for new threads this often at most. */
#define SEARCH_INTERVAL_NS (50 * NS_PER_MS)
/* Threads that start while others are covered are found by further listings, up to this number. */
#define MAX_LISTINGS 16

/* A ring that several events write to. */
struct perf_output {
	int fd; /* of the event that holds the ring; -1: there is none */
	struct perf_ring ring;
};

/* A processor that is switched on, and the rings of all events on it. */
struct perf_cpu {
	int number;
	struct perf_output output;
	/*
	 * It gets the stacks with which threads give up the processor. When too many do, this ring
	 * is full, and the other one is not.
	 */
	struct perf_output waits;
};

/* A thread with an event and a ring of its own. */
struct perf_thread {
	pid_t tid;
	int fd;
	bool has_ended;
	struct perf_ring ring;
};

/* Ascending ids of threads. */
struct perf_tids {
	pid_t *v;
	size_t n;
	size_t n_allocated;
};

struct perf_process {
	pid_t pid;
	int *fds; /* events that are inherited, of each thread and processor; or else |threads| */
	size_t n_fds;
	size_t n_fds_allocated;
	int *wait_fds; /* those of PERF_USE_SWITCHES, likewise */
	size_t n_wait_fds;
	size_t n_wait_fds_allocated;
	bool has_waits; /* such events are wanted */
	struct perf_thread **threads;
	size_t n_threads;
	size_t n_threads_allocated;
	size_t ring_bytes; /* of each of |threads|, or less; 0: events are inherited */
	bool is_covered; /* so |ring_bytes| is settled */
	struct perf_tids known; /* those of the last search, but for ended ones */
	bool has_more_threads; /* one has started since the last search */
	int64_t due_ns; /* the next search, CLOCK_MONOTONIC */
};

struct perf_set {
	struct perf_opener opener;
	int epoll_fd;
	struct perf_cpu *cpus;
	size_t n_cpus;
	size_t n_cpus_allocated;
	size_t cpu_ring_bytes; /* 0: they have no rings yet */
	bool has_wait_rings;
	struct perf_process *processes;
	size_t n_processes;
	size_t n_processes_allocated;
	bool has_repeats; /* a thread has possibly two events for a processor */
	struct perf_repeats repeats;
	struct perf_counts counts; /* n_lost: of closed events, or without has_lost */
	struct perf_scratch scratch;
};

static void set_close_fd(struct perf_set *s, int fd)
{
	s->counts.n_lost += perf_opener_close(&s->opener, fd);
}

/* --- rings ------------------------------------------------------------------------------------ */

/* Returns the size that each of |n_rings| rings should have: a power of two. */
static size_t set_choose_ring_bytes(const struct perf_set *s, size_t n_rings)
{
	size_t n_bytes = s->opener.ring_bytes;

	while (n_bytes > PERF_RING_MIN_BYTES && n_bytes > RINGS_MAX_BYTES / n_rings)
		n_bytes /= 2;
	return n_bytes;
}

/*
 * Maps the ring of |fd| and adds it to the descriptor for poll(2) with |thread|, which is NULL for
 * a processor. Only a small ring wakes the caller: a large one would do so several times a second
 * for nothing. 0, or a negative errno: -ENOBUFS if it is more memory than the user may lock.
 */
static int set_map_ring(struct perf_set *s, struct perf_ring *ring, int fd, size_t n_bytes,
	struct perf_thread *thread)
{
	bool is_small = n_bytes < s->opener.ring_bytes;
	struct epoll_event event = {.events = is_small ? EPOLLIN : 0, .data.ptr = thread};
	int r = perf_ring_map(ring, fd, n_bytes);

	if (r)
		return r == -EPERM ? -ENOBUFS : r;
	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static void set_unmap_ring(struct perf_set *s, struct perf_ring *ring, int fd)
{
	epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	perf_ring_unmap(ring);
}

static bool lacks_memory(int r)
{
	return r == -ENOBUFS || r == -ENOMEM;
}

/* --- processors ------------------------------------------------------------------------------- */

static int set_add_cpu(struct perf_set *s, int number)
{
	int r = grow(&s->cpus, &s->n_cpus_allocated, s->n_cpus + 1);

	if (r)
		return r;
	s->cpus[s->n_cpus++] = (struct perf_cpu){.number = number, .output.fd = -1, .waits.fd = -1};
	if ((uint32_t)number >= s->repeats.n_cpus)
		s->repeats.n_cpus = (uint32_t)number + 1;
	return 0;
}

/* Finds the processors that are switched on, from a list such as "0-3,8". */
static int set_find_cpus(struct perf_set *s)
{
	char path[PATH_MAX];
	char text[4096];
	const char *p = text;
	uint64_t first;
	int r = 0;

	snprintf(path, sizeof path, "%s/sys/devices/system/cpu/online", s->opener.root);
	if (proc_file_read(AT_FDCWD, path, text, sizeof text))
		snprintf(text, sizeof text, "0-%ld", sysconf(_SC_NPROCESSORS_CONF) - 1);
	while (!r && scan_number(&p, &first)) {
		uint64_t last = first;

		if (scan_text(&p, "-") && !scan_number(&p, &last))
			break;
		for (; !r && first <= last && first < INT_MAX; first++)
			r = set_add_cpu(s, (int)first);
		scan_text(&p, ",");
	}
	return r;
}

/* A processor that was switched off meanwhile gets no ring. */
static int output_open(struct perf_set *s, struct perf_output *output, int cpu, size_t n_bytes)
{
	int fd = perf_opener_open(&s->opener, PERF_USE_RING, 0, cpu, n_bytes);

	if (fd < 0)
		return fd == -ENODEV || fd == -EINVAL ? 0 : fd;
	output->fd = fd;
	return set_map_ring(s, &output->ring, fd, n_bytes, NULL);
}

static void output_close(struct perf_set *s, struct perf_output *output)
{
	if (output->fd < 0)
		return;
	set_unmap_ring(s, &output->ring, output->fd);
	set_close_fd(s, output->fd);
	output->fd = -1;
}

static void set_close_wait_rings(struct perf_set *s)
{
	for (size_t i = 0; i < s->n_cpus; i++)
		output_close(s, &s->cpus[i].waits);
	s->has_wait_rings = false;
}

static void set_close_cpu_rings(struct perf_set *s)
{
	for (size_t i = 0; i < s->n_cpus; i++)
		output_close(s, &s->cpus[i].output);
	set_close_wait_rings(s);
	s->cpu_ring_bytes = 0;
}

/* Opens the rings for stacks of waiting threads. Without enough memory there are none. */
static void set_open_wait_rings(struct perf_set *s)
{
	int r = 0;

	if (!s->opener.has_switches || !s->opener.has_kernel || s->has_wait_rings)
		return;
	for (size_t i = 0; !r && i < s->n_cpus; i++)
		r = output_open(s, &s->cpus[i].waits, s->cpus[i].number, WAIT_RING_BYTES);
	s->has_wait_rings = true;
	if (r)
		set_close_wait_rings(s);
}

/*
 * Opens the rings, unless they are open. If they are more memory than the user may lock, all of
 * them are halved: otherwise the last processors would have none.
 */
static int set_open_cpu_rings(struct perf_set *s)
{
	size_t n_bytes = set_choose_ring_bytes(s, s->n_cpus);
	int r = s->cpu_ring_bytes ? 0 : -ENOBUFS;

	for (; lacks_memory(r) && n_bytes >= PERF_RING_MIN_BYTES; n_bytes /= 2) {
		r = 0;
		s->cpu_ring_bytes = n_bytes;
		for (size_t i = 0; !r && i < s->n_cpus; i++)
			r = output_open(s, &s->cpus[i].output, s->cpus[i].number, n_bytes);
		if (r)
			set_close_cpu_rings(s);
	}
	if (!r)
		set_open_wait_rings(s);
	return r;
}

/* --- ids of threads --------------------------------------------------------------------------- */

static int compare_tids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a;
	pid_t y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

static void tids_deinit(struct perf_tids *t)
{
	free(t->v);
	*t = (struct perf_tids){NULL, 0, 0};
}

/* Lists the threads of |pid| in |out|, which is empty. 0 or a negative errno. */
static int tids_list(struct perf_tids *out, const char *root, pid_t pid)
{
	_cleanup_closedir_ DIR *dir = NULL;
	char path[PATH_MAX];
	struct dirent *entry;

	snprintf(path, sizeof path, "%s/proc/%d/task", root, (int)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (grow(&out->v, &out->n_allocated, out->n + 1))
			return -ENOMEM;
		out->v[out->n++] = atoi(entry->d_name);
	}
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, compare_tids);
	return 0;
}

static pid_t *tids_find(const struct perf_tids *t, pid_t tid)
{
	return t->n ? bsearch(&tid, t->v, t->n, sizeof *t->v, compare_tids) : NULL;
}

static void tids_remove(struct perf_tids *t, pid_t tid)
{
	pid_t *found = tids_find(t, tid);

	if (!found)
		return;
	memmove(found, found + 1, (size_t)(t->v + t->n - found - 1) * sizeof *found);
	t->n--;
}

/* --- events that threads inherit -------------------------------------------------------------- */

static void process_close_fds(struct perf_set *s, struct perf_process *p)
{
	for (size_t i = 0; i < p->n_fds; i++)
		set_close_fd(s, p->fds[i]);
	/* Nobody counts what these lose: a wait without a stack shows it. */
	for (size_t i = 0; i < p->n_wait_fds; i++)
		perf_opener_close(&s->opener, p->wait_fds[i]);
	free(p->fds);
	free(p->wait_fds);
	p->fds = p->wait_fds = NULL;
	p->n_fds = p->n_fds_allocated = p->n_wait_fds = p->n_wait_fds_allocated = 0;
}

/* Opens an event of a thread on a processor. 0: it was switched off; or the descriptor. */
static int set_open_inherited(
	struct perf_set *s, enum perf_use use, pid_t tid, int cpu, const struct perf_output *output)
{
	int fd = perf_opener_open(&s->opener, use, tid, cpu, output->ring.n_bytes);

	if (fd < 0)
		return fd == -ENODEV ? 0 : fd;
	if (!ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, output->fd))
		return fd;
	perf_opener_close(&s->opener, fd);
	return -errno;
}

static int process_open_fd(
	struct perf_set *s, struct perf_process *p, pid_t tid, const struct perf_cpu *cpu)
{
	int r = grow(&p->fds, &p->n_fds_allocated, p->n_fds + 1);
	int fd;

	if (r)
		return r;
	fd = set_open_inherited(s, PERF_USE_INHERITED, tid, cpu->number, &cpu->output);
	if (fd > 0)
		p->fds[p->n_fds++] = fd;
	return fd < 0 ? fd : 0;
}

/* Without such an event, waits of the thread have no stacks. */
static void process_open_wait_fd(
	struct perf_set *s, struct perf_process *p, pid_t tid, const struct perf_cpu *cpu)
{
	int fd;

	if (!p->has_waits || cpu->waits.fd < 0 ||
		grow(&p->wait_fds, &p->n_wait_fds_allocated, p->n_wait_fds + 1))
		return;
	fd = set_open_inherited(s, PERF_USE_SWITCHES, tid, cpu->number, &cpu->waits);
	if (fd > 0)
		p->wait_fds[p->n_wait_fds++] = fd;
}

static int process_open_fds(struct perf_set *s, struct perf_process *p, pid_t tid)
{
	int r = 0;

	for (size_t i = 0; !r && i < s->n_cpus; i++) {
		if (s->cpus[i].output.fd < 0)
			continue;
		r = process_open_fd(s, p, tid, &s->cpus[i]);
		if (!r)
			process_open_wait_fd(s, p, tid, &s->cpus[i]);
	}
	return r;
}

/* --- events with rings of their own ----------------------------------------------------------- */

static void thread_close(struct perf_set *s, struct perf_thread *t)
{
	if (t->fd >= 0) {
		set_unmap_ring(s, &t->ring, t->fd);
		set_close_fd(s, t->fd);
	}
	free(t);
}

static int thread_open(struct perf_set *s, pid_t tid, size_t ring_bytes, struct perf_thread **out)
{
	struct perf_thread *t = calloc(1, sizeof *t);
	int r;

	if (!t)
		return -ENOMEM;
	t->tid = tid;
	t->fd = perf_opener_open(&s->opener, PERF_USE_THREAD, tid, -1, ring_bytes);
	r = t->fd < 0 ? t->fd : set_map_ring(s, &t->ring, t->fd, ring_bytes, t);
	if (r)
		thread_close(s, t);
	else
		*out = t;
	return r;
}

/* A thread that has started later gets a smaller ring, if that is all that the user may lock. */
static int process_open_thread(struct perf_set *s, struct perf_process *p, pid_t tid)
{
	size_t least = p->is_covered ? PERF_RING_MIN_BYTES : p->ring_bytes;
	int r = -ENOBUFS;

	if (grow(&p->threads, &p->n_threads_allocated, p->n_threads + 1))
		return -ENOMEM;
	for (size_t n_bytes = p->ring_bytes; lacks_memory(r) && n_bytes >= least; n_bytes /= 2)
		r = thread_open(s, tid, n_bytes, &p->threads[p->n_threads]);
	p->n_threads += !r;
	return r;
}

static bool process_has_thread(const struct perf_process *p, pid_t tid)
{
	for (size_t i = 0; i < p->n_threads; i++)
		if (p->threads[i]->tid == tid)
			return true;
	return false;
}

static void process_close_thread(struct perf_set *s, struct perf_process *p, size_t i)
{
	tids_remove(&p->known, p->threads[i]->tid); /* a later thread may have its id */
	thread_close(s, p->threads[i]);
	p->threads[i] = p->threads[--p->n_threads];
}

static void process_close_threads(struct perf_set *s, struct perf_process *p)
{
	while (p->n_threads)
		process_close_thread(s, p, p->n_threads - 1);
	tids_deinit(&p->known);
}

/* --- covering threads ------------------------------------------------------------------------- */

static bool is_shortage(int r)
{
	return lacks_memory(r) || r == -EMFILE || r == -ENFILE;
}

/* Covers a thread. 0 or a negative errno. One that has ended meanwhile needs nothing. */
static int process_cover_thread(struct perf_set *s, struct perf_process *p, pid_t tid)
{
	int r = p->ring_bytes ? process_open_thread(s, p, tid) : process_open_fds(s, p, tid);

	return r == -ESRCH ? 0 : r;
}

/*
 * Covers the threads of |listed| that are new. Returns their number, or a negative errno. If
 * threads have rings of their own, and there is no room for all of them, as many as possible are
 * covered, and the others are counted.
 */
static int process_cover_list(
	struct perf_set *s, struct perf_process *p, const struct perf_tids *listed)
{
	int n = 0;
	int shortage = 0;

	for (size_t i = 0; i < listed->n; i++) {
		int r = shortage;

		if (tids_find(&p->known, listed->v[i]) || process_has_thread(p, listed->v[i]))
			continue;
		n++;
		if (!r)
			r = process_cover_thread(s, p, listed->v[i]);
		if (r && !(p->ring_bytes && is_shortage(r)))
			return r;
		shortage = r;
		s->counts.n_uncovered += r != 0;
	}
	return shortage ? shortage : n;
}

/* Looks for new threads, and covers them. Returns as process_cover_list() does. */
static int process_search(struct perf_set *s, struct perf_process *p)
{
	struct perf_tids listed = {NULL, 0, 0};
	int r = tids_list(&listed, s->opener.root, p->pid);

	p->has_more_threads = false;
	p->due_ns = monotonic_ns() + SEARCH_INTERVAL_NS;
	if (!r)
		r = process_cover_list(s, p, &listed);
	tids_deinit(&p->known);
	p->known = listed;
	return r;
}

/*
 * Searches until there is nothing new. Returns 0, or a negative errno as process_cover_list() does.
 *
 * A thread that starts meanwhile may get events although it has inherited some. Nothing tells
 * whether it has.
 */
static int process_search_all(struct perf_set *s, struct perf_process *p)
{
	int r = process_search(s, p);

	for (int i = 1; i < MAX_LISTINGS && r > 0; i++) {
		r = process_search(s, p);
		s->has_repeats |= r > 0 && !p->ring_bytes;
	}
	return r > 0 ? 0 : r;
}

/* Covers all threads with events that are inherited. 0 or a negative errno. */
static int process_cover_inherited(struct perf_set *s, struct perf_process *p)
{
	int r = set_open_cpu_rings(s);

	if (!r)
		r = process_search_all(s, p);
	tids_deinit(&p->known);
	if (r)
		process_close_fds(s, p);
	return r;
}

/*
 * Covers each thread by an event with a ring. If the rings are more memory than the user may lock,
 * all of them are halved. Returns 0, or a negative errno as process_cover_list() does.
 */
static int process_cover_each(struct perf_set *s, struct perf_process *p, size_t n_threads)
{
	size_t n_bytes = set_choose_ring_bytes(s, n_threads);
	uint64_t n_uncovered = s->counts.n_uncovered;
	int r = -ENOBUFS;

	for (; lacks_memory(r) && n_bytes >= PERF_RING_MIN_BYTES; n_bytes /= 2) {
		process_close_threads(s, p);
		s->counts.n_uncovered = n_uncovered;
		p->ring_bytes = n_bytes;
		r = process_search_all(s, p);
	}
	p->is_covered = true;
	return r;
}

/* --- processes -------------------------------------------------------------------------------- */

static struct perf_process *set_find_process(const struct perf_set *s, pid_t pid)
{
	for (size_t i = 0; i < s->n_processes; i++)
		if (s->processes[i].pid == pid)
			return &s->processes[i];
	return NULL;
}

static void process_deinit(struct perf_set *s, struct perf_process *p)
{
	process_close_fds(s, p);
	process_close_threads(s, p);
	free(p->threads);
}

/* Returns true if there may be |n_events| more events for each processor. */
static bool set_has_room(const struct perf_set *s, size_t n_events)
{
	size_t n = (n_events + !s->cpu_ring_bytes) * s->n_cpus;

	return s->opener.n_fds + n <= MAX_FDS &&
	       descriptors_are_left((unsigned)n, DESCRIPTORS_OF_CHILDREN);
}

/* Returns 0, or a negative errno as process_cover_list() does. */
static int process_cover(struct perf_set *s, struct perf_process *p, size_t n_threads)
{
	int r = -EMFILE;

	p->has_waits = set_has_room(s, 2 * n_threads);
	if (s->opener.has_inherit_thread && set_has_room(s, n_threads))
		r = process_cover_inherited(s, p);
	if (r == -EMFILE)
		r = process_cover_each(s, p, n_threads);
	return r || p->n_fds || p->n_threads ? r : -ESRCH;
}

/* Explains that |n| threads are not covered. */
static int warn_of_uncovered(
	const struct perf_set *s, const struct perf_process *p, uint64_t n, int r, struct diag *d)
{
	struct perf_need need = {p->pid, p->known.n, s->n_cpus};
	char text[PERF_SHORTAGE_BYTES];

	diag_set(d, r, "CPU samples of process %d: %llu of its %zu threads have none: %s",
		(int)p->pid, (unsigned long long)n, p->known.n,
		perf_opener_write_shortage(&s->opener, &need, r, text));
	return PERF_SET_PARTIAL;
}

/* Returns the number of threads of a process, or 1 if there is none. */
static size_t count_threads(const char *root, pid_t pid)
{
	struct perf_tids listed = {NULL, 0, 0};
	size_t n;

	tids_list(&listed, root, pid);
	n = listed.n;
	tids_deinit(&listed);
	return n ? n : 1;
}

int perf_set_add_process(struct perf_set *s, pid_t pid, struct diag *d)
{
	size_t n_threads = count_threads(s->opener.root, pid);
	uint64_t n_uncovered = s->counts.n_uncovered;
	struct perf_process p = {.pid = pid};
	int r;

	if (set_find_process(s, pid))
		return 0;
	r = grow(&s->processes, &s->n_processes_allocated, s->n_processes + 1);
	if (!r)
		r = process_cover(s, &p, n_threads);
	if (is_shortage(r) && p.n_threads) {
		r = warn_of_uncovered(s, &p, s->counts.n_uncovered - n_uncovered, r, d);
	} else if (r) {
		/* This suffices for both ways. */
		struct perf_need need = {pid, n_threads + s->n_cpus, s->n_cpus};

		process_deinit(s, &p);
		return perf_opener_refuse(&s->opener, &need, r, d);
	}
	s->processes[s->n_processes++] = p;
	return r;
}

void perf_set_remove_process(struct perf_set *s, pid_t pid)
{
	struct perf_process *p = set_find_process(s, pid);

	if (!p)
		return;
	process_deinit(s, p);
	*p = s->processes[--s->n_processes];
}

/* --- draining --------------------------------------------------------------------------------- */

struct perf_drain {
	struct perf_set *set;
	void (*take)(void *context, const struct perf_record *record);
	void *context;
	unsigned percent; /* of the fullest ring */
	struct perf_process *process; /* NULL: the ring is that of a processor */
	struct perf_thread *thread;
	bool is_of_waits; /* the ring is perf_cpu.waits */
};

/* Follows the threads of a process that have rings of their own. */
static void drain_follow(struct perf_drain *drain, const struct perf_record *record)
{
	if (record->kind == PERF_KIND_FORK && record->task.pid == record->task.parent_pid)
		drain->process->has_more_threads = true;
	/* The thread that calls execve() gets the id of the first one. All others end. */
	if (record->kind == PERF_KIND_COMM && record->comm.is_exec)
		drain->thread->tid = record->tid;
}

static void drain_take(void *context, const void *bytes, size_t n)
{
	struct perf_drain *drain = context;
	struct perf_set *s = drain->set;
	struct perf_record record;
	int r = perf_record_decode(&s->opener.layout, bytes, n, &record);

	s->counts.n_broken += r == PERF_BROKEN;
	if (r || (drain->is_of_waits && record.kind != PERF_KIND_SAMPLE))
		return;
	if (record.kind == PERF_KIND_LOST && !s->opener.has_lost)
		s->counts.n_lost += record.n_lost;
	s->counts.n_throttles += record.kind == PERF_KIND_THROTTLE;
	if (drain->thread)
		drain_follow(drain, &record);
	else if (s->has_repeats && !drain->is_of_waits && perf_repeats_has(&s->repeats, &record)) {
		s->counts.n_repeated++;
		return;
	}
	drain->take(drain->context, &record);
}

static void drain_ring(struct perf_drain *drain, struct perf_ring *ring)
{
	struct perf_set *s = drain->set;
	unsigned percent;

	if (perf_ring_drain(ring, &s->scratch, drain_take, drain))
		s->counts.n_broken++;
	percent = (unsigned)(100 * ring->found_bytes / ring->n_bytes);
	if (percent > drain->percent && !drain->is_of_waits)
		drain->percent = percent;
}

/*
 * Marks the threads that have ended, whose records are all in their rings by now. The kernel also
 * forgets that it has woken poll(2).
 */
static void set_find_ended(struct perf_set *s)
{
	struct epoll_event found[64];
	bool is_new;

	/* Marked threads are found again, after all others: a batch of them only is the last. */
	do {
		int n = epoll_wait(s->epoll_fd, found, sizeof found / sizeof *found, 0);

		is_new = false;
		for (int i = 0; i < n; i++) {
			struct perf_thread *t = found[i].data.ptr;

			if (!t || !(found[i].events & EPOLLHUP) || t->has_ended)
				continue;
			t->has_ended = true;
			is_new = true;
		}
	} while (is_new);
}

static void drain_threads(struct perf_drain *drain, struct perf_process *p)
{
	drain->process = p;
	/* Downwards: closing a thread moves the last one to its place. */
	for (size_t i = p->n_threads; i-- > 0;) {
		drain->thread = p->threads[i];
		drain_ring(drain, &p->threads[i]->ring);
		if (p->threads[i]->has_ended)
			process_close_thread(drain->set, p, i);
	}
	drain->process = NULL;
	drain->thread = NULL;
}

unsigned perf_set_drain(struct perf_set *s,
	void (*take)(void *context, const struct perf_record *record), void *context)
{
	struct perf_drain drain = {.set = s, .take = take, .context = context};

	set_find_ended(s);
	drain.is_of_waits = true;
	for (size_t i = 0; i < s->n_cpus; i++)
		if (s->cpus[i].waits.fd >= 0)
			drain_ring(&drain, &s->cpus[i].waits.ring);
	drain.is_of_waits = false;
	for (size_t i = 0; i < s->n_cpus; i++)
		if (s->cpus[i].output.fd >= 0)
			drain_ring(&drain, &s->cpus[i].output.ring);
	for (size_t i = 0; i < s->n_processes; i++)
		drain_threads(&drain, &s->processes[i]);
	for (size_t i = 0; i < s->n_processes; i++) {
		struct perf_process *p = &s->processes[i];

		if (p->has_more_threads && p->due_ns <= monotonic_ns())
			process_search_all(s, p);
	}
	return drain.percent;
}

/* --- the set ---------------------------------------------------------------------------------- */

int perf_set_get_fd(const struct perf_set *s)
{
	return s->epoll_fd;
}

bool perf_set_has_kernel(const struct perf_set *s)
{
	return s->opener.has_kernel;
}

void perf_set_count(const struct perf_set *s, struct perf_counts *out)
{
	*out = s->counts;
	for (size_t i = 0; i < s->n_processes; i++) {
		const struct perf_process *p = &s->processes[i];

		for (size_t j = 0; j < p->n_fds; j++)
			out->n_lost += perf_opener_read_lost(&s->opener, p->fds[j]);
		for (size_t j = 0; j < p->n_threads; j++)
			out->n_lost += perf_opener_read_lost(&s->opener, p->threads[j]->fd);
	}
}

void perf_set_close(struct perf_set *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_processes; i++)
		process_deinit(s, &s->processes[i]);
	set_close_cpu_rings(s);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	perf_repeats_deinit(&s->repeats);
	free(s->processes);
	free(s->cpus);
	free(s);
}

int perf_set_open(struct perf_set **out, const struct perf_options *options, struct diag *d)
{
	const struct perf_need none = {.pid = 0};
	struct perf_set *s = calloc(1, sizeof *s);
	char text[PERF_SHORTAGE_BYTES];
	int r;

	if (!s)
		return diag_set(d, -ENOMEM, "CPU samples: %s", errno_words(ENOMEM));
	s->epoll_fd = -1;
	r = perf_opener_init(&s->opener, options, d);
	if (!r) {
		s->epoll_fd =
			descriptors_keep(epoll_create1(EPOLL_CLOEXEC), DESCRIPTORS_OF_CHILDREN);
		r = s->epoll_fd < 0 ? -errno : set_find_cpus(s);
		if (r)
			diag_set(d, r, "CPU samples: %s",
				perf_opener_write_shortage(&s->opener, &none, r, text));
	}
	if (r)
		perf_set_close(s);
	else
		*out = s;
	return r;
}
