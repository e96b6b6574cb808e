/* SPDX-License-Identifier: Apache-2.0 */
/* Threads by their inner ids; see inner_threads.h, and NSpid in proc(5). */
#include "daemon/target/inner_threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/grow.h"
#include "daemon/kernel/proc_file.h"

#define STATUS_BYTES 4096
#define KEPT_NS (20 * NS_PER_MS)
/* Of the time, so much at most is spent on looking. */
#define REST_FACTOR 20
#define MAX_TRIES 8
#define MAX_MISSED_NS (10 * NS_PER_S)

static int compare(const void *left, const void *right)
{
	pid_t a = *(const pid_t *)left;
	pid_t b = *(const pid_t *)right;

	return (a > b) - (a < b);
}

/* 0: it has just ended, or the kernel does not tell. */
static pid_t read_inner_id(int tasks, pid_t outer)
{
	char path[32];
	char text[STATUS_BYTES];

	snprintf(path, sizeof path, "%d/status", (int)outer);
	return proc_file_read(tasks, path, text, sizeof text) ? 0 : proc_status_find_inner_id(text);
}

static int add(struct inner_threads *t, pid_t tid)
{
	if (grow(&t->v, &t->n_allocated, t->n + 1))
		return -1;
	t->v[t->n++] = tid;
	return 0;
}

/* As the directory's links say, two of which are its own. */
static size_t count_threads(DIR *dir)
{
	struct stat st;

	return fstat(dirfd(dir), &st) || st.st_nlink < 2 ? 0 : st.st_nlink - 2;
}

/*
 * Their outer ids. The kernel ends the list early when the thread that it is at ends: so they are counted, before and behind.
 * 1 when the list is whole.
 */
static int list(struct inner_threads *t, DIR *dir)
{
	size_t n = count_threads(dir);
	struct dirent *entry;

	rewinddir(dir);
	t->n = 0;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.' && add(t, atoi(entry->d_name)))
			return 0;
	return t->n == n && count_threads(dir) == n;
}

static int list_in_time(struct inner_threads *t, DIR *dir)
{
	for (int i = 0; i < MAX_TRIES; i++)
		if (list(t, dir))
			return 1;
	return 0;
}

/* In place of the outer ones. */
static void translate(struct inner_threads *t, DIR *dir)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		pid_t tid = read_inner_id(dirfd(dir), t->v[i]);

		if (tid > 0)
			t->v[n++] = tid;
	}
	t->n = n;
	if (n)
		qsort(t->v, n, sizeof *t->v, compare);
}

/* 0, or -1: not all are known, so nobody can be said to have ended. */
static int read_all(struct inner_threads *t, const char *root, pid_t pid)
{
	char path[512];
	int is_whole;
	DIR *dir;

	snprintf(path, sizeof path, "%s/proc/%d/task", root, (int)pid);
	dir = opendir(path);
	if (!dir)
		return -1;
	is_whole = list_in_time(t, dir);
	if (is_whole)
		translate(t, dir);
	else
		t->n = 0;
	closedir(dir);
	return is_whole && t->n ? 0 : -1;
}

static int is_listed(const struct inner_threads *t, pid_t tid)
{
	return t->n && bsearch(&tid, t->v, t->n, sizeof tid, compare);
}

/* Looks, if that is due. */
static int look(struct inner_threads *t, const char *root, pid_t pid, int64_t now_ns)
{
	int64_t begin_ns;
	int r;

	if (now_ns < t->due_ns || (t->n && now_ns - t->read_ns < KEPT_NS))
		return 0;
	begin_ns = monotonic_ns();
	r = read_all(t, root, pid);
	t->due_ns = now_ns + REST_FACTOR * (monotonic_ns() - begin_ns);
	if (r)
		return 0;
	t->read_ns = now_ns;
	return 1;
}

/* Where |tid| is among those that were missed; n_missed: nowhere. */
static size_t find_missed(const struct inner_threads *t, pid_t tid)
{
	size_t i = 0;

	while (i < t->n_missed && t->missed[i].tid != tid)
		i++;
	return i;
}

static void forget(struct inner_threads *t, size_t i)
{
	if (i < t->n_missed)
		t->missed[i] = t->missed[--t->n_missed];
}

static void remember(struct inner_threads *t, pid_t tid, int64_t now_ns)
{
	if (t->n_missed == INNER_THREADS_MAX_MISSED)
		t->n_missed = 0;
	if (grow(&t->missed, &t->n_missed_allocated, t->n_missed + 1) == 0)
		t->missed[t->n_missed++] = (struct missed_thread){tid, now_ns};
}

/* One that was asked for before the last look, a short while ago: that id is nobody else's yet. */
static int was_missed_before(const struct inner_threads *t, size_t i, int64_t now_ns)
{
	return i < t->n_missed && t->missed[i].asked_ns < t->read_ns &&
	       now_ns - t->missed[i].asked_ns < MAX_MISSED_NS;
}

/* One that is not listed can have begun since the look; not one that was asked for before it. */
int inner_threads_have(
	struct inner_threads *t, const char *root, pid_t pid, pid_t tid, int64_t now_ns)
{
	int has_looked = tid > 0 && look(t, root, pid, now_ns);
	size_t i;
	int is_gone;

	if (tid <= 0 || !t->n)
		return 1;
	i = find_missed(t, tid);
	is_gone = !is_listed(t, tid) && (has_looked || was_missed_before(t, i, now_ns));
	if (is_gone || is_listed(t, tid))
		forget(t, i);
	else if (i == t->n_missed)
		remember(t, tid, now_ns);
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
