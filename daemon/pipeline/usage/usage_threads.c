/* SPDX-License-Identifier: Apache-2.0 */
/* Threads' processor time; see usage_threads.h. */
#include "daemon/pipeline/usage/usage_threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grow.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/kernel/process_tree.h"

void usage_threads_open(struct usage_threads *t, int process_fd)
{
	int fd = openat(process_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	memset(t, 0, sizeof *t);
	t->dir = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !t->dir)
		close(fd);
}

void usage_threads_close(struct usage_threads *t)
{
	if (t->dir)
		closedir(t->dir);
	t->dir = NULL;
}

void usage_threads_free(struct usage_threads *t)
{
	usage_threads_close(t);
	for (size_t i = 0; i < t->n; i++) {
		free(t->v[i]->v);
		free(t->v[i]);
	}
	free(t->v);
	memset(t, 0, sizeof *t);
}

/* The number of threads with a tid of at most |tid|. */
static size_t count_up_to(const struct usage_threads *t, int32_t tid)
{
	size_t low = 0;
	size_t high = t->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (t->v[middle]->tid <= tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int add_reading(
	struct usage_threads *t, struct usage_thread *thread, int64_t at_ns, uint64_t run_ns)
{
	if (thread->n >= 2 && at_ns - thread->v[thread->n - 1].at_ns < t->merge_ns) {
		thread->n--;
		t->n_readings--;
	}
	if (grow(&thread->v, &thread->n_allocated, thread->n + 1))
		return t->error = -ENOMEM;
	thread->v[thread->n++] = (struct usage_reading){.at_ns = at_ns, .run_ns = run_ns};
	t->n_readings++;
	return 0;
}

static struct usage_thread *add_thread(struct usage_threads *t, int32_t tid)
{
	size_t at = count_up_to(t, tid);
	struct usage_thread *thread;

	if (t->n == USAGE_MAX_THREADS)
		return NULL;
	thread = grow(&t->v, &t->n_allocated, t->n + 1) ? NULL : calloc(1, sizeof *thread);
	if (!thread) {
		t->error = -ENOMEM;
		return NULL;
	}
	thread->tid = tid;
	memmove(&t->v[at + 1], &t->v[at], (t->n - at) * sizeof(*t->v));
	t->v[at] = thread;
	t->n++;
	/* The thread started after the last pass, so all its use is later than that pass. */
	if (t->last_pass_ns)
		add_reading(t, thread, t->last_pass_ns, 0);
	return thread;
}

/* Returns NULL if another thread has the tid now: its time began at 0 again. */
static struct usage_thread *find_thread(struct usage_threads *t, int32_t tid, uint64_t run_ns)
{
	size_t at = count_up_to(t, tid);
	struct usage_thread *thread = at ? t->v[at - 1] : NULL;

	if (!thread || thread->tid != tid)
		return NULL;
	return thread->n && thread->v[thread->n - 1].run_ns > run_ns ? NULL : thread;
}

static int read_file(struct usage_threads *t, int32_t tid, const char *name, char *text, size_t n)
{
	char path[48];

	snprintf(path, sizeof path, "%d/%s", (int)tid, name);
	return proc_file_read(dirfd(t->dir), path, text, n);
}

/* A kernel without scheduler statistics has no schedstat, or zeros for a thread that has run. */
static int read_schedstat(struct usage_threads *t, int32_t tid, struct proc_schedstat *out)
{
	char text[128];
	int r;

	r = read_file(t, tid, "schedstat", text, sizeof text);
	if (!r)
		r = proc_schedstat_parse(text, out);
	if (!r && !out->run_ns && !out->n_switches)
		r = -ENODATA;
	return r;
}

static int read_ticks(struct usage_threads *t, int32_t tid, struct proc_schedstat *out)
{
	struct proc_stat stat;
	char text[1024];
	int r;

	r = read_file(t, tid, "stat", text, sizeof text);
	if (!r)
		r = proc_stat_parse(text, &stat);
	if (!r)
		*out = (struct proc_schedstat){
			.run_ns = stat.cpu_ticks * (uint64_t)(NS_PER_S / sysconf(_SC_CLK_TCK))};
	return r;
}

static int read_times(struct usage_threads *t, int32_t tid, struct proc_schedstat *out)
{
	int r = t->has_no_schedstat ? -ENODATA : read_schedstat(t, tid, out);

	if (!r)
		return 0;
	r = read_ticks(t, tid, out);
	/* The thread exists, so it is the kernel that has no schedstat. */
	if (!r && t->n == 0)
		t->has_no_schedstat = true;
	return r;
}

static void read_name(const struct usage_threads *t, struct usage_thread *thread)
{
	char path[48];
	char text[sizeof thread->name];

	snprintf(path, sizeof path, "%d/comm", (int)thread->tid);
	if (proc_file_read(dirfd(t->dir), path, text, sizeof text))
		return;
	text[strcspn(text, "\n")] = '\0';
	memcpy(thread->name, text, sizeof text);
}

static void read_thread(struct usage_threads *t, int32_t tid)
{
	struct proc_schedstat s = {0};
	struct usage_thread *thread;

	if (read_times(t, tid, &s))
		return;
	thread = find_thread(t, tid, s.run_ns);
	if (thread) {
		t->wait_ns += s.wait_ns - thread->wait_ns;
		t->n_switches += s.n_switches - thread->n_switches;
	} else {
		thread = add_thread(t, tid);
		if (!thread)
			return;
		if (t->last_pass_ns) {
			t->wait_ns += s.wait_ns;
			t->n_switches += s.n_switches;
		}
	}
	thread->wait_ns = s.wait_ns;
	thread->n_switches = s.n_switches;
	add_reading(t, thread, monotonic_ns(), s.run_ns);
	/* A thread often gets its name only after its start. */
	if (thread->n <= 3)
		read_name(t, thread);
}

/* Returns NULL if another process has the pid now. */
static struct usage_thread *find_process(
	struct usage_threads *t, const struct process_tree_child *child)
{
	struct usage_thread *process = find_thread(t, child->pid, child->cpu_ns);

	return process && process->start_ticks == child->start_ticks ? process : NULL;
}

void usage_threads_add_process(
	struct usage_threads *t, const struct process_tree_child *child, int64_t at_ns)
{
	struct usage_thread *process = find_process(t, child);
	int64_t last_pass_ns = t->last_pass_ns;

	if (!process) {
		t->last_pass_ns = child->is_new ? last_pass_ns : 0;
		process = add_thread(t, child->pid);
		t->last_pass_ns = last_pass_ns;
	}
	if (!process || add_reading(t, process, at_ns, child->cpu_ns))
		return;
	process->v[process->n - 1].rss_bytes = child->rss_bytes;
	process->start_ticks = child->start_ticks;
	snprintf(process->name, sizeof process->name, "%s", child->name);
}

void usage_threads_forget(struct usage_threads *t, int32_t id)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (t->v[i]->tid != id) {
			t->v[n++] = t->v[i];
			continue;
		}
		t->n_readings -= t->v[i]->n;
		free(t->v[i]->v);
		free(t->v[i]);
	}
	t->n = n;
}

void usage_threads_end_pass(struct usage_threads *t, int64_t at_ns)
{
	t->last_pass_ns = at_ns;
}

int usage_threads_read(struct usage_threads *t, size_t n)
{
	struct dirent *entry;

	if (!t->dir)
		return 1;
	if (!t->is_in_pass)
		rewinddir(t->dir);
	t->is_in_pass = true;
	while (n > 0 && (entry = readdir(t->dir))) {
		int tid = atoi(entry->d_name);

		if (tid <= 0)
			continue;
		read_thread(t, tid);
		n--;
	}
	if (n == 0)
		return 0;
	t->is_in_pass = false;
	t->last_pass_ns = monotonic_ns();
	return 1;
}

uint64_t usage_thread_count_ns(const struct usage_thread *thread)
{
	return thread->n ? thread->v[thread->n - 1].run_ns - thread->v[0].run_ns : 0;
}

static void thin_readings(struct usage_thread *thread)
{
	size_t kept = 0;

	/* The last reading stays, so that no use is lost. */
	for (size_t i = 0; i < thread->n; i++)
		if (i % 2 == 0 || i + 1 == thread->n)
			thread->v[kept++] = thread->v[i];
	thread->n = kept;
}

void usage_threads_thin(struct usage_threads *t)
{
	t->n_readings = 0;
	for (size_t i = 0; i < t->n; i++) {
		thin_readings(t->v[i]);
		t->n_readings += t->v[i]->n;
	}
}

/* The busiest first. */
static int compare_use(const void *left, const void *right)
{
	const struct usage_thread *const *a = left;
	const struct usage_thread *const *b = right;
	uint64_t a_ns = usage_thread_count_ns(*a);
	uint64_t b_ns = usage_thread_count_ns(*b);

	if (a_ns != b_ns)
		return a_ns < b_ns ? 1 : -1;
	return (*a)->tid < (*b)->tid ? -1 : 1;
}

void usage_threads_name(struct usage_threads *t, int32_t tid, const char *name)
{
	for (size_t i = 0; i < t->n && i < USAGE_SHOWN_THREADS; i++)
		if (t->v[i]->tid == tid)
			snprintf(t->v[i]->name, sizeof t->v[i]->name, "%s", name);
}

void usage_threads_rank(struct usage_threads *t)
{
	if (t->n)
		qsort(t->v, t->n, sizeof(*t->v), compare_use);
	/* Reads names again, which may have been set late. */
	for (size_t i = 0; t->dir && i < t->n && i < USAGE_SHOWN_THREADS; i++)
		read_name(t, t->v[i]);
}
