/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process and all its descendants use together, read from /proc in passes. Descendants that end keep what they used: the
 * kernel adds it to their parent's account when the parent waits for them, and this takes off what was counted before. Of those
 * that nobody waits for the last reading counts.
 */
#ifndef DAEMON_DESCENT_H
#define DAEMON_DESCENT_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The process and so many descendants are counted. */
#define DESCENT_MAX_MEMBERS 512

enum descent_total {
	DESCENT_CPU, /* ns */
	DESCENT_MINOR_FAULTS,
	DESCENT_MAJOR_FAULTS,
	DESCENT_READ, /* bytes */
	DESCENT_WRITTEN,
	DESCENT_DISK_READ,
	DESCENT_DISK_WRITTEN,
	N_DESCENT_TOTALS
};

struct descent_entry;
struct descent_member;

struct descent {
	char root[256];
	pid_t pid;
	uint64_t began_ticks; /* since boot, as /proc has it */
	DIR *dir; /* /proc, in a pass */
	struct descent_entry *entries; /* the processes of the machine, in a pass */
	size_t n_entries;
	size_t n_entries_allocated;
	size_t n_read; /* processes that were read since the caller set it to 0 */
	struct descent_member *members; /* the process itself is the first */
	size_t n_members;
	size_t n_members_allocated;
	uint64_t total[N_DESCENT_TOTALS]; /* since the first pass */
	uint64_t rss_bytes; /* in the last pass; shared pages count in each process */
	uint64_t n_threads; /* the same */
	size_t most_left_out; /* descendants beyond the most, in the pass with most of them */
	int has_family; /* there was a descendant in some pass */
	int has_io; /* what the process itself reads and writes is ours to read */
	int is_open;
};

/* |root| is "" or a test's fake root. Makes the first pass. */
void descent_open(struct descent *d, const char *root, pid_t pid);
void descent_close(struct descent *d);

/* A descendant that lived in the last pass. */
struct descent_child {
	pid_t pid;
	const char *name; /* borrowed, until the next pass */
	uint64_t start_ticks; /* as /proc has it: with the pid it says which process it is */
	uint64_t cpu_ns; /* since its start, without its children */
	uint64_t rss_bytes; /* 0: it has ended, and nobody has waited for it */
	int is_new; /* it was started after the first pass */
};

/* The |i|th of them, from 0; 0 when there are no more. */
int descent_get_child(const struct descent *d, size_t i, struct descent_child *out);

/* Reads |n_files| more processes of the pass, or of a new one. 1: the pass is complete. -ENOMEM: it was given up. */
int descent_visit(struct descent *d, size_t n_files);

#endif
