/* SPDX-License-Identifier: Apache-2.0 */
/* Threads by their inner ids; see inner_threads.h, and NSpid in proc(5). */
#include "daemon/target/inner_threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/grow.h"
#include "daemon/kernel/proc_file.h"

#define STATUS_BYTES 4096
#define KEPT_NS (20 * NS_PER_MS)
/* Reading the list takes at most one REST_FACTORth of the time. */
#define REST_FACTOR 20
#define MAX_TRIES 8
#define MAX_MISSED_NS (10 * NS_PER_S)

static int tid_compare(const void *left, const void *right)
{
	pid_t a = *(const pid_t *)left;
	pid_t b = *(const pid_t *)right;

	return (a > b) - (a < b);
}

/* Returns 0 if the thread has just ended, or the kernel does not report it. */
static pid_t task_read_inner_id(int tasks, pid_t outer)
{
	char path[32];
	char text[STATUS_BYTES];

	snprintf(path, sizeof path, "%d/status", (int)outer);
	return proc_file_read(tasks, path, text, sizeof text) ? 0 : proc_status_find_inner_id(text);
}

static int inner_threads_add(struct inner_threads *t, pid_t tid)
{
	if (grow(&t->v, &t->n_allocated, t->n + 1))
		return -1;
	t->v[t->n++] = tid;
	return 0;
}

/* Counts the threads by the directory's links, of which two are not threads. */
static size_t tasks_count(DIR *dir)
{
	struct stat st;

	return fstat(dirfd(dir), &st) || st.st_nlink < 2 ? 0 : st.st_nlink - 2;
}

/*
 * Lists the outer ids; returns 1 if the list is complete. The kernel cuts the list when the thread
 * that it has come to ends meanwhile, so the threads are counted before and after.
 */
static int inner_threads_list(struct inner_threads *t, DIR *dir)
{
	size_t n = tasks_count(dir);
	struct dirent *entry;

	rewinddir(dir);
	t->n = 0;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.' && inner_threads_add(t, atoi(entry->d_name)))
			return 0;
	return t->n == n && tasks_count(dir) == n;
}

static int inner_threads_list_retry(struct inner_threads *t, DIR *dir)
{
	for (int i = 0; i < MAX_TRIES; i++)
		if (inner_threads_list(t, dir))
			return 1;
	return 0;
}

/* Replaces the outer ids by the inner ones. */
static void inner_threads_translate(struct inner_threads *t, DIR *dir)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		pid_t tid = task_read_inner_id(dirfd(dir), t->v[i]);

		if (tid > 0)
			t->v[n++] = tid;
	}
	t->n = n;
	if (n)
		qsort(t->v, n, sizeof *t->v, tid_compare);
}

/* 0, or -1: some ids are unknown, so no thread may count as ended. */
static int inner_threads_read(struct inner_threads *t, const char *root, pid_t pid)
{
	char path[512];
	bool is_whole;
	DIR *dir;

	snprintf(path, sizeof path, "%s/proc/%d/task", root, (int)pid);
	dir = opendir(path);
	if (!dir)
		return -1;
	is_whole = inner_threads_list_retry(t, dir);
	if (is_whole)
		inner_threads_translate(t, dir);
	else
		t->n = 0;
	closedir(dir);
	return is_whole && t->n ? 0 : -1;
}

static bool inner_threads_has(const struct inner_threads *t, pid_t tid)
{
	return t->n && bsearch(&tid, t->v, t->n, sizeof tid, tid_compare);
}

/* Reads the list, if that is due. */
static int inner_threads_update(
	struct inner_threads *t, const char *root, pid_t pid, int64_t now_ns)
{
	int64_t begin_ns;
	int r;

	if (now_ns < t->due_ns || (t->n && now_ns - t->read_ns < KEPT_NS))
		return 0;
	begin_ns = monotonic_ns();
	r = inner_threads_read(t, root, pid);
	t->due_ns = now_ns + REST_FACTOR * (monotonic_ns() - begin_ns);
	if (r)
		return 0;
	t->read_ns = now_ns;
	return 1;
}

/* Finds |tid| among the missed threads; n_missed: it is not there. */
static size_t missed_find(const struct inner_threads *t, pid_t tid)
{
	size_t i = 0;

	while (i < t->n_missed && t->missed[i].tid != tid)
		i++;
	return i;
}

static void missed_forget(struct inner_threads *t, size_t i)
{
	if (i < t->n_missed)
		t->missed[i] = t->missed[--t->n_missed];
}

static void missed_remember(struct inner_threads *t, pid_t tid, int64_t now_ns)
{
	if (t->n_missed == INNER_THREADS_MAX_MISSED)
		t->n_missed = 0;
	if (grow(&t->missed, &t->n_missed_allocated, t->n_missed + 1) == 0)
		t->missed[t->n_missed++] = (struct missed_thread){tid, now_ns};
}

/*
 * Returns true if the thread was asked for before the last reading, a short while ago: its id
 * cannot have been reused since.
 */
static bool missed_before_reading(const struct inner_threads *t, size_t i, int64_t now_ns)
{
	return i < t->n_missed && t->missed[i].asked_ns < t->read_ns &&
	       now_ns - t->missed[i].asked_ns < MAX_MISSED_NS;
}

/*
 * A thread that is not in the list may have begun after the last reading, unless a caller had
 * already asked for it before that.
 */
bool inner_threads_have(
	struct inner_threads *t, const char *root, pid_t pid, pid_t tid, int64_t now_ns)
{
	bool has_read = tid > 0 && inner_threads_update(t, root, pid, now_ns);
	size_t i;
	bool is_gone;

	if (tid <= 0 || !t->n)
		return true;
	i = missed_find(t, tid);
	is_gone = !inner_threads_has(t, tid) && (has_read || missed_before_reading(t, i, now_ns));
	if (is_gone || inner_threads_has(t, tid))
		missed_forget(t, i);
	else if (i == t->n_missed)
		missed_remember(t, tid, now_ns);
	else if (now_ns - t->missed[i].asked_ns >= MAX_MISSED_NS)
		t->missed[i].asked_ns = now_ns;
	return !is_gone;
}

void inner_threads_free(struct inner_threads *t)
{
	free(t->v);
	free(t->missed);
	memset(t, 0, sizeof *t);
}
