/* SPDX-License-Identifier: Apache-2.0 */
/* A process and its descendants; see process_tree.h. */
#include "daemon/kernel/process_tree.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/printable.h"
#include "daemon/kernel/lineage.h"
#include "daemon/kernel/proc_file.h"

/* Deeper trees are not followed in one pass; the next pass goes on. */
#define MAX_GENERATIONS 64

/* The kernel cuts names of processes at 15 bytes; with the '\0'. */
#define PROCESS_TREE_NAME_BYTES 16

struct process_tree_entry {
	pid_t pid;
	bool is_member;
	char name[PROCESS_TREE_NAME_BYTES];
	struct proc_stat stat;
};

/* Totals since the start of a process. */
struct process_tree_account {
	uint64_t own[N_PROCESS_TREE_TOTALS]; /* its I/O includes that of reaped children */
	uint64_t reaped[N_PROCESS_TREE_TOTALS]; /* of reaped children; zero for I/O */
};

struct process_tree_member {
	pid_t pid;
	pid_t parent;
	uint64_t start_ticks;
	uint64_t rss_bytes;
	char name[PROCESS_TREE_NAME_BYTES];
	struct process_tree_account last;
	struct process_tree_account now;
	/* the use, as counted so far, of descendants that this pass found ended */
	uint64_t gone[N_PROCESS_TREE_TOTALS];
	/* the part of the last pass's |gone| that the kernel had not added to the account then */
	uint64_t awaited[N_PROCESS_TREE_TOTALS];
	bool is_alive;
};

/* --- Reading --------------------------------------------------------------------------------- */

/* The text is "42 (name) S …", where the name may hold parentheses. */
static void member_copy_name(const char *text, char name[PROCESS_TREE_NAME_BYTES])
{
	const char *begin = strchr(text, '(');
	const char *end = strrchr(text, ')');

	if (begin && end > begin)
		snprintf(name, PROCESS_TREE_NAME_BYTES, "%.*s", (int)(end - begin - 1), begin + 1);
	printable_clean(name);
}

static int tree_read_entry(struct process_tree *d, pid_t pid)
{
	char path[320];
	char text[1024];
	struct process_tree_entry e = {.pid = pid};

	d->n_read++;
	snprintf(path, sizeof path, "%s/proc/%d/stat", d->root, (int)pid);
	if (proc_file_read(AT_FDCWD, path, text, sizeof text) || proc_stat_parse(text, &e.stat))
		return 0;
	member_copy_name(text, e.name);
	if (grow(&d->entries, &d->n_entries_allocated, d->n_entries + 1))
		return -ENOMEM;
	d->entries[d->n_entries++] = e;
	return 0;
}

/* Returns nanoseconds, which are finer than /proc's ticks of 10 ms; 0: the clock cannot be read. */
static uint64_t read_cpu_clock(const struct process_tree *d, pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (d->root[0] || clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)(t.tv_sec * NS_PER_S + t.tv_nsec);
}

static int member_read_io(
	const struct process_tree *d, pid_t pid, uint64_t own[N_PROCESS_TREE_TOTALS])
{
	char path[320];
	char text[512];
	struct proc_io io;

	snprintf(path, sizeof path, "%s/proc/%d/io", d->root, (int)pid);
	if (proc_file_read(AT_FDCWD, path, text, sizeof text) || proc_io_parse(text, &io))
		return 0;
	own[PROCESS_TREE_READ] = io.read_bytes;
	own[PROCESS_TREE_WRITTEN] = io.written_bytes;
	own[PROCESS_TREE_DISK_READ] = io.disk_read_bytes;
	own[PROCESS_TREE_DISK_WRITTEN] = io.disk_written_bytes;
	return 1;
}

static uint64_t read_rss_pages(
	const struct process_tree *d, pid_t pid, const struct proc_stat *stat)
{
	_cleanup_close_ int fd = -1;
	char path[320];

	snprintf(path, sizeof path, "%s/proc/%d/statm", d->root, (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return proc_rss_read(fd, stat);
}

static void read_account(
	struct process_tree *d, struct process_tree_member *m, const struct proc_stat *stat)
{
	uint64_t tick_ns = (uint64_t)(NS_PER_S / sysconf(_SC_CLK_TCK));
	uint64_t cpu_ns = read_cpu_clock(d, m->pid);

	m->now = m->last;
	if (cpu_ns == 0)
		cpu_ns = stat->cpu_ticks * tick_ns;
	/* The ticks of a process that is gone may be less than its clock was. */
	if (cpu_ns > m->now.own[PROCESS_TREE_CPU])
		m->now.own[PROCESS_TREE_CPU] = cpu_ns;
	m->now.own[PROCESS_TREE_MINOR_FAULTS] = stat->minor_faults;
	m->now.own[PROCESS_TREE_MAJOR_FAULTS] = stat->major_faults;
	m->now.reaped[PROCESS_TREE_CPU] = stat->reaped_cpu_ticks * tick_ns;
	m->now.reaped[PROCESS_TREE_MINOR_FAULTS] = stat->reaped_minor_faults;
	m->now.reaped[PROCESS_TREE_MAJOR_FAULTS] = stat->reaped_major_faults;
	m->rss_bytes = 0;
	if (stat->state == 'Z')
		return;
	if (member_read_io(d, m->pid, m->now.own) && m->pid == d->pid)
		d->has_io = true;
	d->n_threads += stat->n_threads;
	m->rss_bytes = read_rss_pages(d, m->pid, stat) * (uint64_t)sysconf(_SC_PAGESIZE);
	d->rss_bytes += m->rss_bytes;
}

/* --- Members --------------------------------------------------------------------------------- */

static int compare_entries(const void *left, const void *right)
{
	const struct process_tree_entry *a = left;
	const struct process_tree_entry *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

static struct process_tree_entry *tree_find_entry(const struct process_tree *d, pid_t pid)
{
	const struct process_tree_entry key = {.pid = pid};

	return d->n_entries ? bsearch(&key, d->entries, d->n_entries, sizeof key, compare_entries)
			    : NULL;
}

static int tree_add_member(struct process_tree *d, struct process_tree_entry *e)
{
	if (grow(&d->members, &d->n_members_allocated, d->n_members + 1))
		return -ENOMEM;
	d->members[d->n_members++] = (struct process_tree_member){
		.pid = e->pid,
		.start_ticks = e->stat.start_ticks,
	};
	e->is_member = true;
	return 0;
}

static int tree_add_children(struct process_tree *d, size_t *n_left_out)
{
	size_t before = d->n_members;

	*n_left_out = 0;
	for (size_t i = 0; i < d->n_entries; i++) {
		struct process_tree_entry *e = &d->entries[i];
		const struct process_tree_entry *parent =
			e->is_member ? NULL : tree_find_entry(d, (pid_t)e->stat.parent);

		if (!parent || !parent->is_member)
			continue;
		if (d->n_members >= PROCESS_TREE_MAX_MEMBERS + 1)
			(*n_left_out)++;
		else if (tree_add_member(d, e))
			return -ENOMEM;
	}
	return d->n_members > before;
}

static int tree_find_members(struct process_tree *d)
{
	size_t n_left_out = 0;
	int r = 1;

	if (d->n_entries)
		qsort(d->entries, d->n_entries, sizeof *d->entries, compare_entries);
	for (size_t i = 0; i < d->n_members; i++) {
		struct process_tree_entry *e = tree_find_entry(d, d->members[i].pid);

		/* The pid may have been reused. */
		if (e && e->stat.start_ticks == d->members[i].start_ticks)
			e->is_member = true;
	}
	for (int i = 0; i < MAX_GENERATIONS && r > 0; i++)
		r = tree_add_children(d, &n_left_out);
	if (n_left_out > d->most_left_out)
		d->most_left_out = n_left_out;
	return r < 0 ? r : 0;
}

/* --- Use ------------------------------------------------------------------------------------- */

static struct process_tree_member *tree_find_member(struct process_tree *d, pid_t pid)
{
	for (size_t i = 0; i < d->n_members; i++)
		if (d->members[i].pid == pid)
			return &d->members[i];
	return NULL;
}

/*
 * Returns the member to whose account the kernel adds the use of |m|, which has ended; NULL: no
 * member.
 */
static struct process_tree_member *tree_find_reaper(
	struct process_tree *d, const struct process_tree_member *m)
{
	for (int i = 0; i < MAX_GENERATIONS && m; i++) {
		struct process_tree_member *parent = tree_find_member(d, m->parent);

		if (!parent || parent->is_alive)
			return parent;
		m = parent;
	}
	return NULL;
}

static uint64_t total_growth(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

static bool total_is_io(int total)
{
	return total >= PROCESS_TREE_READ;
}

/*
 * Adds one total. A pass reads the processes in turn: if a child ended after its parent was read,
 * the parent's account includes the child's use only in the next pass.
 */
static void tree_add_use(struct process_tree *d, struct process_tree_member *m, int i)
{
	uint64_t own = total_growth(m->last.own[i], m->now.own[i]);
	uint64_t reaped = total_growth(m->last.reaped[i], m->now.reaped[i]);
	uint64_t counted = m->gone[i] + m->awaited[i];
	uint64_t account;

	d->has_family |= reaped > 0;
	/* The account may hold the past use of processes that were never counted. */
	if (d->most_left_out)
		reaped = 0;
	account = total_is_io(i) ? own : reaped;
	d->total[i] += (total_is_io(i) ? 0 : own) + total_growth(counted, account);
	m->awaited[i] = total_growth(account, counted);
	if (m->awaited[i] > m->gone[i])
		m->awaited[i] = m->gone[i];
}

static void tree_remove_ended(struct process_tree *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_members; i++) {
		struct process_tree_member m = d->members[i];

		if (!m.is_alive)
			continue;
		m.last = m.now;
		memset(m.gone, 0, sizeof m.gone);
		d->members[n++] = m;
	}
	d->n_members = n;
}

/* Adds the readings of all processes to the members and totals. */
static void tree_account_members(struct process_tree *d, bool is_first)
{
	d->n_threads = d->rss_bytes = 0;
	for (size_t i = 0; i < d->n_members; i++) {
		struct process_tree_member *m = &d->members[i];
		const struct process_tree_entry *e = tree_find_entry(d, m->pid);

		m->is_alive = e && e->is_member;
		if (!m->is_alive)
			continue;
		read_account(d, m, &e->stat);
		/* A process that is older than the first pass counts from its first reading on. */
		if (is_first || (!m->parent && m->start_ticks < d->began_ticks))
			m->last = m->now;
		m->parent = (pid_t)e->stat.parent;
		memcpy(m->name, e->name, sizeof m->name);
	}
	for (size_t i = 0; i < d->n_members; i++) {
		const struct process_tree_member *m = &d->members[i];
		struct process_tree_member *heir = m->is_alive ? NULL : tree_find_reaper(d, m);

		for (int j = 0; heir && j < N_PROCESS_TREE_TOTALS; j++)
			heir->gone[j] += m->last.own[j] + m->last.reaped[j];
	}
	for (size_t i = 0; i < d->n_members; i++)
		for (int j = 0; d->members[i].is_alive && j < N_PROCESS_TREE_TOTALS; j++)
			tree_add_use(d, &d->members[i], j);
	tree_remove_ended(d);
	d->has_family |= d->n_members > 1;
}

/* --- Passes ---------------------------------------------------------------------------------- */

static void tree_end_pass(struct process_tree *d)
{
	if (d->dir)
		closedir(d->dir);
	d->dir = NULL;
	free(d->entries);
	d->entries = NULL;
	d->n_entries = d->n_entries_allocated = 0;
}

static int tree_finish_pass(struct process_tree *d, bool is_first)
{
	int r = tree_find_members(d);

	if (!r)
		tree_account_members(d, is_first);
	tree_end_pass(d);
	return r ? r : 1;
}

/*
 * Begins a pass. If the process has no children, as most have none, the pass reads only this
 * process and is complete at once: returns 1.
 */
static int tree_begin_pass(struct process_tree *d)
{
	char path[320];

	d->n_entries = 0;
	if (d->n_members == 1 && lineage_has_no_children(d->root, d->pid))
		return tree_read_entry(d, d->pid) ? -ENOMEM : 1;
	snprintf(path, sizeof path, "%s/proc", d->root);
	d->dir = opendir(path);
	return 0;
}

static int tree_continue_pass(struct process_tree *d, size_t n_files, bool is_first)
{
	struct dirent *entry;
	int r = d->dir ? 0 : tree_begin_pass(d);

	if (r > 0)
		return tree_finish_pass(d, is_first);
	while (!r && d->dir && n_files && (entry = readdir(d->dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		r = tree_read_entry(d, (pid_t)atoi(entry->d_name));
		n_files--;
	}
	if (!r && (!d->dir || !n_files))
		return 0;
	if (!r)
		return tree_finish_pass(d, is_first);
	tree_end_pass(d);
	return r;
}

int process_tree_visit(struct process_tree *d, size_t n_files)
{
	return d->is_open && d->n_members ? tree_continue_pass(d, n_files, 0) : 0;
}

bool process_tree_get_child(const struct process_tree *d, size_t i, struct process_tree_child *out)
{
	const struct process_tree_member *m = &d->members[i + 1];

	if (i + 1 >= d->n_members)
		return false;
	*out = (struct process_tree_child){
		.pid = m->pid,
		.name = m->name,
		.start_ticks = m->start_ticks,
		.cpu_ns = m->last.own[PROCESS_TREE_CPU],
		.rss_bytes = m->rss_bytes,
		.is_new = m->start_ticks >= d->began_ticks,
	};
	return true;
}

void process_tree_open(struct process_tree *d, const char *root, pid_t pid)
{
	uint64_t ticks_per_s = (uint64_t)sysconf(_SC_CLK_TCK);
	struct timespec t;

	memset(d, 0, sizeof *d);
	snprintf(d->root, sizeof d->root, "%s", root);
	d->pid = pid;
	clock_gettime(CLOCK_BOOTTIME, &t);
	d->began_ticks = (uint64_t)t.tv_sec * ticks_per_s +
			 (uint64_t)t.tv_nsec * ticks_per_s / (uint64_t)NS_PER_S;
	d->is_open = true;
	if (tree_read_entry(d, pid) || !d->n_entries || tree_add_member(d, &d->entries[0])) {
		process_tree_close(d);
		return;
	}
	tree_continue_pass(d, SIZE_MAX, 1);
}

void process_tree_close(struct process_tree *d)
{
	tree_end_pass(d);
	free(d->members);
	d->members = NULL;
	d->n_members = d->n_members_allocated = 0;
	d->is_open = false;
}
