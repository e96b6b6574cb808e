/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples the usage of a process while a capture runs: processor time, memory, faults, context
 * switches, I/O, all from /proc, without help of that process. A visit never waits and reads a
 * bounded number of files, so that the server can drain the rings in between.
 */
#ifndef DAEMON_USAGE_H
#define DAEMON_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "daemon/kernel/process_tree.h"
#include "daemon/pipeline/usage/usage_threads.h"

/* The shortest time between two samples. */
#define USAGE_MIN_INTERVAL_MS 10
/* The number of descriptors that one struct usage holds while it samples. */
#define USAGE_DESCRIPTORS 4

enum usage_metric {
	USAGE_CPU, /* ns */
	USAGE_CPU_WAIT, /* ns, summed up over the threads */
	USAGE_SWITCHES,
	USAGE_THREADS,
	USAGE_RSS, /* bytes */
	USAGE_MINOR_FAULTS,
	USAGE_MAJOR_FAULTS,
	USAGE_READ, /* bytes */
	USAGE_WRITTEN,
	USAGE_DISK_READ,
	USAGE_DISK_WRITTEN,
	N_USAGE_METRICS
};

struct usage_sample {
	int64_t at_ns; /* CLOCK_MONOTONIC */
	uint32_t known; /* bit 1 << metric */
	uint64_t value
		[N_USAGE_METRICS]; /* totals since the process's start, but for THREADS and RSS */
};

struct usage {
	pid_t pid;
	int64_t interval_ns; /* 0: nothing is sampled */
	int64_t due_ns; /* CLOCK_MONOTONIC */
	int64_t spent_ns; /* in the present pass */
	int dir_fd; /* /proc/PID, or -1 */
	int stat_fd;
	int statm_fd;
	int io_fd; /* -1: the file may not be read */
	int io_error; /* why its I/O could not be read: the first negative errno, or 0 */
	bool has_cpu_clock;
	clockid_t cpu_clock;
	struct usage_threads threads;
	struct usage_sample *samples;
	size_t n_samples;
	size_t n_allocated;
	/* owned: samples of the process and its descendants together, without threads; or NULL */
	struct usage *family;
	struct usage_threads
		children; /* descendants in the place of threads, each with its processor time */
	struct process_tree *descent; /* owned: finds the members of |family|; or NULL */
	int64_t family_due_ns; /* CLOCK_MONOTONIC */
	int64_t family_spent_ns; /* in the present pass over the family */
	bool has_descendants; /* only in |family|: the process had descendants */
	size_t n_left_out; /* descendants that |family| does not count */
	/* processes of the capture: they share the room for samples; 0 counts as 1 */
	size_t n_sharing;
	int error; /* -ENOMEM: samples are missing */
};

/*
 * |root| is "" or a test's fake root; |interval_ms| 0 is off. Takes the first sample. Leaves out
 * files that it cannot read (of a process of another user).
 */
void usage_open(struct usage *u, const char *root, pid_t pid, int64_t interval_ms);
/* Called after usage_open(): also samples the process and its descendants together. */
void usage_open_family(struct usage *u, const char *root);
void usage_close(struct usage *u);
/* True when the process had a descendant while it was sampled. */
bool usage_has_family(const struct usage *u);

/* Does the work that is due, or a part of it, in less than a millisecond. */
void usage_visit(struct usage *u);
/*
 * Ends the sampling, with a last sample of everything unless the process |is_gone|. Does nothing
 * the second time.
 */
void usage_finish(struct usage *u, bool is_gone);

/*
 * Moves the samples of |u| and the readings of its threads to |part|. |part| need not be
 * initialised, and is then a finished usage for usage_close(). The last sample and the last reading
 * of each thread stay in |u|, too, as the first of the next part. Samples before |from_ns|
 * (CLOCK_MONOTONIC) are left out, except for the last one. 0, or -ENOMEM: samples are missing.
 */
int usage_cut(struct usage *u, struct usage *part, int64_t from_ns);

#endif
