/* SPDX-License-Identifier: Apache-2.0 */
/* The example's own count of annotations: a table of names. It takes its lock only in captures. */
#include "docs/examples/count.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <proftap/proftap.h>

struct row {
	const char *group; /* a thread's name, or (steps) or (counters) */
	const char *name;
	unsigned long count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* rows, n_rows */
static struct row rows[1024];
static size_t n_rows;

static _Thread_local const char *thread_name = "main";

static struct row *find(const char *group, const char *name)
{
	for (size_t i = 0; i < n_rows; i++) {
		if (strcmp(rows[i].group, group) == 0 && strcmp(rows[i].name, name) == 0)
			return &rows[i];
	}
	if (n_rows == sizeof(rows) / sizeof(rows[0]))
		return NULL;
	rows[n_rows] = (struct row){.group = group, .name = name};
	return &rows[n_rows++];
}

static void add(const char *group, const char *name)
{
	struct row *row;

	pthread_mutex_lock(&lock);
	row = find(group, name);
	if (row)
		row->count++;
	pthread_mutex_unlock(&lock);
}

void count_thread(const char *name)
{
	thread_name = name;
}

void count_span(int level, const char *name)
{
	if (ptap_enabled(level))
		add(thread_name, name);
}

void count_step(const char *name)
{
	if (!ptap_enabled(1))
		return;
	add(thread_name, name);
	add("(steps)", name);
}

void count_counter(const char *name)
{
	if (ptap_enabled(1))
		add("(counters)", name);
}

static int write_rows(FILE *out)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < n_rows; i++)
		fprintf(out, "%s\t%s\t%lu\n", rows[i].group, rows[i].name, rows[i].count);
	pthread_mutex_unlock(&lock);
	return fflush(out) == 0 ? 0 : -errno;
}

int count_write(const char *path)
{
	char temporary[4096];
	FILE *out;
	int r;

	if (snprintf(temporary, sizeof(temporary), "%s.tmp", path) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	out = fopen(temporary, "we");
	if (!out)
		return -errno;
	r = write_rows(out);
	if (fclose(out) != 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(temporary, path) != 0)
		r = -errno;
	if (r != 0)
		unlink(temporary);
	return r;
}
