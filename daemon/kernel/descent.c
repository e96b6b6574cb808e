/* SPDX-License-Identifier: Apache-2.0 */
/* A process and its descendants; see descent.h. */
#include "daemon/kernel/descent.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
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

/* Deeper families are not followed in one pass; the next one goes on. */
#define MAX_GENERATIONS 64

/* The kernel cuts names of processes at 15 bytes; this is with the terminating 0. */
#define DESCENT_NAME_BYTES 16

struct descent_entry {
	pid_t pid;
	int is_member;
	char name[DESCENT_NAME_BYTES];
	struct proc_stat stat;
};

/* Totals since the start of a process. */
struct descent_account {
	uint64_t own[N_DESCENT_TOTALS]; /* its I/O includes that of children it has waited for */
	uint64_t reaped[N_DESCENT_TOTALS]; /* of children it has waited for; none for I/O */
};

struct descent_member {
	pid_t pid;
	pid_t parent;
	uint64_t start_ticks;
	uint64_t rss_bytes;
	char name[DESCENT_NAME_BYTES];
	struct descent_account last;
	struct descent_account now;
	uint64_t
		gone[N_DESCENT_TOTALS]; /* counted before, of descendants that ended in this pass */
	uint64_t awaited
		[N_DESCENT_TOTALS]; /* the same of the pass before, where the account did not have it yet */
	int is_alive;
};

/* --- reading ----------------------------------------------------------------------------- */

/* "42 (name) S …", where the name may hold parentheses. */
static void copy_name(const char *text, char name[DESCENT_NAME_BYTES])
{
	const char *begin = strchr(text, '(');
	const char *end = strrchr(text, ')');

	if (begin && end > begin)
		snprintf(name, DESCENT_NAME_BYTES, "%.*s", (int)(end - begin - 1), begin + 1);
	printable_clean(name);
}

static int read_entry(struct descent *d, pid_t pid)
{
	char path[320];
	char text[1024];
	struct descent_entry e = {.pid = pid};

	d->n_read++;
	snprintf(path, sizeof path, "%s/proc/%d/stat", d->root, (int)pid);
	if (proc_file_read(AT_FDCWD, path, text, sizeof text) || proc_stat_parse(text, &e.stat))
		return 0;
	copy_name(text, e.name);
	if (grow(&d->entries, &d->n_entries_allocated, d->n_entries + 1))
		return -ENOMEM;
	d->entries[d->n_entries++] = e;
	return 0;
}

/* Nanoseconds, where /proc has ticks of 10 ms; 0: they cannot be read. */
static uint64_t read_cpu_clock(const struct descent *d, pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (d->root[0] || clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)(t.tv_sec * NS_PER_S + t.tv_nsec);
}

static int read_io(const struct descent *d, pid_t pid, uint64_t own[N_DESCENT_TOTALS])
{
	char path[320];
	char text[512];
	struct proc_io io;

	snprintf(path, sizeof path, "%s/proc/%d/io", d->root, (int)pid);
	if (proc_file_read(AT_FDCWD, path, text, sizeof text) || proc_io_parse(text, &io))
		return 0;
	own[DESCENT_READ] = io.read_bytes;
	own[DESCENT_WRITTEN] = io.written_bytes;
	own[DESCENT_DISK_READ] = io.disk_read_bytes;
	own[DESCENT_DISK_WRITTEN] = io.disk_written_bytes;
	return 1;
}

static uint64_t read_rss_pages(const struct descent *d, pid_t pid, const struct proc_stat *stat)
{
	_cleanup_close_ int fd = -1;
	char path[320];

	snprintf(path, sizeof path, "%s/proc/%d/statm", d->root, (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return proc_rss_read(fd, stat);
}

static void read_account(struct descent *d, struct descent_member *m, const struct proc_stat *stat)
{
	uint64_t tick_ns = (uint64_t)(NS_PER_S / sysconf(_SC_CLK_TCK));
	uint64_t cpu_ns = read_cpu_clock(d, m->pid);

	m->now = m->last;
	m->now.own[DESCENT_CPU] = cpu_ns ? cpu_ns : stat->cpu_ticks * tick_ns;
	m->now.own[DESCENT_MINOR_FAULTS] = stat->minor_faults;
	m->now.own[DESCENT_MAJOR_FAULTS] = stat->major_faults;
	m->now.reaped[DESCENT_CPU] = stat->reaped_cpu_ticks * tick_ns;
	m->now.reaped[DESCENT_MINOR_FAULTS] = stat->reaped_minor_faults;
	m->now.reaped[DESCENT_MAJOR_FAULTS] = stat->reaped_major_faults;
	m->rss_bytes = 0;
	if (stat->state == 'Z')
		return;
	if (read_io(d, m->pid, m->now.own) && m->pid == d->pid)
		d->has_io = 1;
	d->n_threads += stat->n_threads;
	m->rss_bytes = read_rss_pages(d, m->pid, stat) * (uint64_t)sysconf(_SC_PAGESIZE);
	d->rss_bytes += m->rss_bytes;
}

/* --- who belongs to it ------------------------------------------------------------------- */

static int compare_entries(const void *left, const void *right)
{
	const struct descent_entry *a = left;
	const struct descent_entry *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

static struct descent_entry *find_entry(const struct descent *d, pid_t pid)
{
	const struct descent_entry key = {.pid = pid};

	return d->n_entries ? bsearch(&key, d->entries, d->n_entries, sizeof key, compare_entries)
			    : NULL;
}

static int add_member(struct descent *d, struct descent_entry *e)
{
	if (grow(&d->members, &d->n_members_allocated, d->n_members + 1))
		return -ENOMEM;
	d->members[d->n_members++] = (struct descent_member){
		.pid = e->pid,
		.start_ticks = e->stat.start_ticks,
	};
	e->is_member = 1;
	return 0;
}

static int add_children(struct descent *d, size_t *n_left_out)
{
	size_t before = d->n_members;

	*n_left_out = 0;
	for (size_t i = 0; i < d->n_entries; i++) {
		struct descent_entry *e = &d->entries[i];
		const struct descent_entry *parent =
			e->is_member ? NULL : find_entry(d, (pid_t)e->stat.parent);

		if (!parent || !parent->is_member)
			continue;
		if (d->n_members >= DESCENT_MAX_MEMBERS + 1)
			(*n_left_out)++;
		else if (add_member(d, e))
			return -ENOMEM;
	}
	return d->n_members > before;
}

static int find_members(struct descent *d)
{
	size_t n_left_out = 0;
	int r = 1;

	if (d->n_entries)
		qsort(d->entries, d->n_entries, sizeof *d->entries, compare_entries);
	for (size_t i = 0; i < d->n_members; i++) {
		struct descent_entry *e = find_entry(d, d->members[i].pid);

		/* A pid may be another process's by now. */
		if (e && e->stat.start_ticks == d->members[i].start_ticks)
			e->is_member = 1;
	}
	for (int i = 0; i < MAX_GENERATIONS && r > 0; i++)
		r = add_children(d, &n_left_out);
	if (n_left_out > d->most_left_out)
		d->most_left_out = n_left_out;
	return r < 0 ? r : 0;
}

/* --- what they used ---------------------------------------------------------------------- */

static struct descent_member *find_member(struct descent *d, pid_t pid)
{
	for (size_t i = 0; i < d->n_members; i++)
		if (d->members[i].pid == pid)
			return &d->members[i];
	return NULL;
}

/* The member to whose account the kernel adds what the ended |m| used; NULL: none of the members. */
static struct descent_member *find_heir(struct descent *d, const struct descent_member *m)
{
	for (int i = 0; i < MAX_GENERATIONS && m; i++) {
		struct descent_member *parent = find_member(d, m->parent);

		if (!parent || parent->is_alive)
			return parent;
		m = parent;
	}
	return NULL;
}

static uint64_t growth(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

static int is_io(int total)
{
	return total >= DESCENT_READ;
}

/*
 * A pass reads one process after the other: a child that ended after its parent was read is in the parent's account only in the next
 * pass.
 */
static void add_use(struct descent *d, struct descent_member *m, int i)
{
	uint64_t own = growth(m->last.own[i], m->now.own[i]);
	uint64_t reaped = growth(m->last.reaped[i], m->now.reaped[i]);
	uint64_t counted = m->gone[i] + m->awaited[i];
	uint64_t account;

	d->has_family |= reaped > 0;
	/* The account may hold what processes that were never counted used long ago. */
	if (d->most_left_out)
		reaped = 0;
	account = is_io(i) ? own : reaped;
	d->total[i] += (is_io(i) ? 0 : own) + growth(counted, account);
	m->awaited[i] = growth(account, counted);
	if (m->awaited[i] > m->gone[i])
		m->awaited[i] = m->gone[i];
}

static void forget_gone(struct descent *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_members; i++) {
		struct descent_member m = d->members[i];

		if (!m.is_alive)
			continue;
		m.last = m.now;
		memset(m.gone, 0, sizeof m.gone);
		d->members[n++] = m;
	}
	d->n_members = n;
}

/* The readings of all processes become those of the members. */
static void settle(struct descent *d, int is_first)
{
	d->n_threads = d->rss_bytes = 0;
	for (size_t i = 0; i < d->n_members; i++) {
		struct descent_member *m = &d->members[i];
		const struct descent_entry *e = find_entry(d, m->pid);

		m->is_alive = e && e->is_member;
		if (!m->is_alive)
			continue;
		read_account(d, m, &e->stat);
		/* A process that is older than the first pass counts from there on. */
		if (is_first || (!m->parent && m->start_ticks < d->began_ticks))
			m->last = m->now;
		m->parent = (pid_t)e->stat.parent;
		memcpy(m->name, e->name, sizeof m->name);
	}
	for (size_t i = 0; i < d->n_members; i++) {
		const struct descent_member *m = &d->members[i];
		struct descent_member *heir = m->is_alive ? NULL : find_heir(d, m);

		for (int j = 0; heir && j < N_DESCENT_TOTALS; j++)
			heir->gone[j] += m->last.own[j] + m->last.reaped[j];
	}
	for (size_t i = 0; i < d->n_members; i++)
		for (int j = 0; d->members[i].is_alive && j < N_DESCENT_TOTALS; j++)
			add_use(d, &d->members[i], j);
	forget_gone(d);
	d->has_family |= d->n_members > 1;
}

/* --- passes ------------------------------------------------------------------------------ */

static void end_pass(struct descent *d)
{
	if (d->dir)
		closedir(d->dir);
	d->dir = NULL;
	free(d->entries);
	d->entries = NULL;
	d->n_entries = d->n_entries_allocated = 0;
}

static int finish_pass(struct descent *d, int is_first)
{
	int r = find_members(d);

	if (!r)
		settle(d, is_first);
	end_pass(d);
	return r ? r : 1;
}

/* A process without children, which most are, is all that is read. 1: the pass is read. */
static int begin_pass(struct descent *d)
{
	char path[320];

	d->n_entries = 0;
	if (d->n_members == 1 && lineage_has_no_children(d->root, d->pid))
		return read_entry(d, d->pid) ? -ENOMEM : 1;
	snprintf(path, sizeof path, "%s/proc", d->root);
	d->dir = opendir(path);
	return 0;
}

static int make_pass(struct descent *d, size_t n_files, int is_first)
{
	struct dirent *entry;
	int r = d->dir ? 0 : begin_pass(d);

	if (r > 0)
		return finish_pass(d, is_first);
	while (!r && d->dir && n_files && (entry = readdir(d->dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		r = read_entry(d, (pid_t)atoi(entry->d_name));
		n_files--;
	}
	if (!r && (!d->dir || !n_files))
		return 0;
	if (!r)
		return finish_pass(d, is_first);
	end_pass(d);
	return r;
}

int descent_visit(struct descent *d, size_t n_files)
{
	return d->is_open && d->n_members ? make_pass(d, n_files, 0) : 0;
}

int descent_get_child(const struct descent *d, size_t i, struct descent_child *out)
{
	const struct descent_member *m = &d->members[i + 1];

	if (i + 1 >= d->n_members)
		return 0;
	*out = (struct descent_child){
		.pid = m->pid,
		.name = m->name,
		.start_ticks = m->start_ticks,
		.cpu_ns = m->last.own[DESCENT_CPU],
		.rss_bytes = m->rss_bytes,
		.is_new = m->start_ticks >= d->began_ticks,
	};
	return 1;
}

void descent_open(struct descent *d, const char *root, pid_t pid)
{
	uint64_t ticks_per_s = (uint64_t)sysconf(_SC_CLK_TCK);
	struct timespec t;

	memset(d, 0, sizeof *d);
	snprintf(d->root, sizeof d->root, "%s", root);
	d->pid = pid;
	clock_gettime(CLOCK_BOOTTIME, &t);
	d->began_ticks = (uint64_t)t.tv_sec * ticks_per_s +
			 (uint64_t)t.tv_nsec * ticks_per_s / (uint64_t)NS_PER_S;
	d->is_open = 1;
	if (read_entry(d, pid) || !d->n_entries || add_member(d, &d->entries[0])) {
		descent_close(d);
		return;
	}
	make_pass(d, SIZE_MAX, 1);
}

void descent_close(struct descent *d)
{
	end_pass(d);
	free(d->members);
	d->members = NULL;
	d->n_members = d->n_members_allocated = 0;
	d->is_open = 0;
}
