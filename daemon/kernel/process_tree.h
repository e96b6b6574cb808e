/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resource use of a process and all its descendants together, read from /proc in passes. The
 * use of descendants that have ended stays in the totals: the kernel adds it to their parent's
 * account when the parent waits for them, and this module subtracts the part that it has counted
 * before. If nobody waits for a descendant, its last reading counts.
 */
#ifndef DAEMON_PROCESS_TREE_H
#define DAEMON_PROCESS_TREE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The maximum number of descendants counted; the root process is counted in addition. */
#define PROCESS_TREE_MAX_MEMBERS 512

enum process_tree_total {
	PROCESS_TREE_CPU, /* ns */
	PROCESS_TREE_MINOR_FAULTS,
	PROCESS_TREE_MAJOR_FAULTS,
	PROCESS_TREE_READ, /* bytes */
	PROCESS_TREE_WRITTEN,
	PROCESS_TREE_DISK_READ,
	PROCESS_TREE_DISK_WRITTEN,
	N_PROCESS_TREE_TOTALS
};

struct process_tree_entry;
struct process_tree_member;

struct process_tree {
	char root[256];
	pid_t pid;
	uint64_t began_ticks; /* the first pass, in /proc's ticks since boot */
	DIR *dir; /* /proc, during a pass */
	struct process_tree_entry *entries; /* all processes of the machine, during a pass */
	size_t n_entries;
	size_t n_entries_allocated;
	size_t n_read; /* processes read since the caller set it to 0 */
	struct process_tree_member *members; /* the first one is the root process */
	size_t n_members;
	size_t n_members_allocated;
	uint64_t total[N_PROCESS_TREE_TOTALS]; /* since the first pass */
	uint64_t rss_bytes; /* in the last pass; shared pages count in each process */
	uint64_t n_threads; /* in the last pass */
	size_t most_left_out; /* the largest number of descendants beyond the maximum in any pass */
	bool has_family; /* a pass found a descendant */
	bool has_io; /* we may read the I/O of the root process */
	bool is_open;
};

/* |root| is "" or a test's fake root. Makes the first pass. */
void process_tree_open(struct process_tree *d, const char *root, pid_t pid);
void process_tree_close(struct process_tree *d);

/* A descendant that the last pass found; it may be a zombie. */
struct process_tree_child {
	pid_t pid;
	const char *name; /* borrowed, until the next pass */
	uint64_t start_ticks; /* as in /proc; it identifies the process together with the pid */
	uint64_t cpu_ns; /* since its start, without children */
	uint64_t rss_bytes; /* 0: it has ended, and was not waited for yet */
	bool is_new; /* it started after the first pass */
};

/* Gets the |i|th descendant, from 0; false when there are no more. */
bool process_tree_get_child(const struct process_tree *d, size_t i, struct process_tree_child *out);

/*
 * Reads |n_files| more processes, in the current pass or a new one. Returns 1 when the pass is
 * complete; -ENOMEM: the pass was given up.
 */
int process_tree_visit(struct process_tree *d, size_t n_files);

#endif
