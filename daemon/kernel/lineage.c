/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and their parents; see lineage.h. */
#include "daemon/kernel/lineage.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "daemon/kernel/proc_file.h"

/* The kernel's PF_FORKNOEXEC: "forked but didn't exec". */
#define HAS_NOT_EXECED 0x40u
/*
 * Deeper trees are not followed. The limit also ends a loop, which two reads at different times can
 * produce.
 */
#define MAX_GENERATIONS 64
/* With more threads, one pass over all processes is cheaper. */
#define MAX_THREADS_ASKED 64

struct lineage_process {
	pid_t pid;
	pid_t parent;
	char state;
	unsigned flags;
	bool is_counted;
};

struct census {
	struct lineage_process *processes;
	size_t n;
	size_t n_allocated;
};

/* Returns 1 if the process exists. */
static int read_process(const char *root, pid_t pid, struct lineage_process *p)
{
	char path[600];
	char text[512];
	const char *rest;

	snprintf(path, sizeof path, "%s/proc/%d/stat", root, (int)pid);
	if (proc_file_read(AT_FDCWD, path, text, sizeof text))
		return 0;
	/* The name may hold anything, even parentheses. */
	rest = strrchr(text, ')');
	*p = (struct lineage_process){.pid = pid};
	return rest &&
	       sscanf(rest, ") %c %d %*d %*d %*d %*d %u", &p->state, &p->parent, &p->flags) == 3;
}

pid_t lineage_get_parent(const char *root, pid_t pid)
{
	struct lineage_process p;

	return read_process(root, pid, &p) ? p.parent : 0;
}

bool lineage_descends(const char *root, pid_t pid, pid_t ancestor)
{
	for (int i = 0; i < MAX_GENERATIONS && pid > 1; i++) {
		pid = lineage_get_parent(root, pid);
		if (pid == ancestor)
			return true;
	}
	return false;
}

static int census_add(struct census *c, const struct lineage_process *p)
{
	if (grow(&c->processes, &c->n_allocated, c->n + 1))
		return -1;
	c->processes[c->n++] = *p;
	return 0;
}

/*
 * Reads the kernel's list of the children of one thread; true also if there is no such file, or the
 * thread is gone.
 */
static bool thread_may_have_children(const char *root, pid_t pid, const char *tid)
{
	char path[900];
	char text[64];

	snprintf(path, sizeof path, "%s/proc/%d/task/%s/children", root, (int)pid, tid);
	return proc_file_read(AT_FDCWD, path, text, sizeof text) || text[0];
}

/* Reads the children of each of the few threads instead of all processes of the machine. */
bool lineage_has_no_children(const char *root, pid_t pid)
{
	char path[600];
	struct dirent *entry;
	int n_threads = 0;
	int may = 0;
	DIR *dir;

	snprintf(path, sizeof path, "%s/proc/%d/task", root, (int)pid);
	dir = opendir(path);
	while (dir && !may && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			may = ++n_threads > MAX_THREADS_ASKED ||
			      thread_may_have_children(root, pid, entry->d_name);
	if (dir)
		closedir(dir);
	return n_threads && !may;
}

/* Collects the living processes that have not called exec; only these are counted later. */
static void census_read(struct census *c, const char *root)
{
	char path[600];
	struct dirent *entry;
	struct lineage_process p;
	DIR *dir;

	snprintf(path, sizeof path, "%s/proc", root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
			read_process(root, atoi(entry->d_name), &p) && (p.flags & HAS_NOT_EXECED) &&
			p.state != 'Z' && p.state != 'X' && census_add(c, &p))
			break;
	if (dir)
		closedir(dir);
}

static int compare_pids(const void *left, const void *right)
{
	const struct lineage_process *a = left;
	const struct lineage_process *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

static bool census_has(const struct census *c, pid_t pid)
{
	const struct lineage_process key = {.pid = pid};
	const struct lineage_process *p =
		bsearch(&key, c->processes, c->n, sizeof key, compare_pids);

	return p && p->is_counted;
}

/* Counts the children of |ancestor| and of processes counted before; returns how many are new. */
static unsigned census_count_generation(struct census *c, pid_t ancestor)
{
	unsigned n = 0;

	for (size_t i = 0; i < c->n; i++) {
		struct lineage_process *p = &c->processes[i];

		if (p->is_counted || (p->parent != ancestor && !census_has(c, p->parent)))
			continue;
		p->is_counted = true;
		n++;
	}
	return n;
}

unsigned lineage_count_forks(const char *root, pid_t ancestor)
{
	struct census c = {NULL, 0, 0};
	unsigned total = 0;
	unsigned n;

	if (lineage_has_no_children(root, ancestor))
		return 0;
	census_read(&c, root);
	if (c.n)
		qsort(c.processes, c.n, sizeof *c.processes, compare_pids);
	for (int i = 0; i < MAX_GENERATIONS && (n = census_count_generation(&c, ancestor)); i++)
		total += n;
	free(c.processes);
	return total;
}
