/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processor time of each thread of a process, read from /proc/PID/task in passes. A pass may be
 * spread over several calls: each reading has its own time, so a visit need not wait for thousands
 * of threads.
 */
#ifndef DAEMON_USAGE_THREADS_H
#define DAEMON_USAGE_THREADS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most threads; later ones are left out. */
#define USAGE_MAX_THREADS 4096u
/* The number of threads that are shown: the busiest ones. */
#define USAGE_SHOWN_THREADS 32u

struct process_tree_child;

struct usage_reading {
	int64_t at_ns; /* CLOCK_MONOTONIC */
	uint64_t run_ns; /* processor time since the thread's start */
	uint64_t rss_bytes; /* of a process in the place of a thread; 0: unknown */
};

struct usage_thread {
	int32_t tid;
	char name[32];
	uint64_t start_ticks; /* of a process in the place of a thread */
	uint64_t wait_ns; /* of the last reading */
	uint64_t n_switches;
	struct usage_reading *v; /* ascending */
	size_t n;
	size_t n_allocated;
};

struct usage_threads {
	DIR *dir; /* /proc/PID/task; NULL: cannot be read */
	/* the kernel has no schedstat: times come in ticks of 10 ms, without waits and switches */
	bool has_no_schedstat;
	bool is_in_pass;
	int64_t merge_ns; /* a last reading younger than this is replaced, but not the first */
	int64_t last_pass_ns; /* end of the last whole pass; 0: there was none */
	struct usage_thread **v; /* by tid, the newest of one tid last; after ranking, by use */
	size_t n;
	size_t n_allocated;
	size_t n_readings; /* of all threads */
	uint64_t wait_ns; /* time that all threads waited for a processor since the first pass */
	uint64_t n_switches;
	int error; /* -ENOMEM: readings are missing */
};

/* |process_fd| is a directory /proc/PID, borrowed. */
void usage_threads_open(struct usage_threads *t, int process_fd);
void usage_threads_close(struct usage_threads *t); /* keeps the readings */
void usage_threads_free(struct usage_threads *t);

/*
 * Begins a pass, or goes on with it; reads at most |n| threads. Returns 1 when the pass is
 * complete.
 */
int usage_threads_read(struct usage_threads *t, size_t n);

/*
 * Adds a process in the place of a thread: the usage of |child| at |at_ns|.
 * usage_threads_end_pass() ends each pass.
 */
void usage_threads_add_process(
	struct usage_threads *t, const struct process_tree_child *child, int64_t at_ns);
void usage_threads_end_pass(struct usage_threads *t, int64_t at_ns);

/* Drops all readings of |id|. */
void usage_threads_forget(struct usage_threads *t, int32_t id);

/* Drops every other reading. */
void usage_threads_thin(struct usage_threads *t);
/* Called after the last pass: sorts the threads by use, the busiest first. */
void usage_threads_rank(struct usage_threads *t);

/* Sets a better name than the system's for the newest thread with |tid|. */
void usage_threads_name(struct usage_threads *t, int32_t tid, const char *name);

/* The processor time between the first and the last reading of a thread. */
uint64_t usage_thread_count_ns(const struct usage_thread *thread);

#endif
