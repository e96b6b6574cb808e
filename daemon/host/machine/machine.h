/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The usage of a whole machine: processors, memory, pressure, disks, networks, GPUs, NPUs, and the
 * programs that announced themselves. A timer of the caller takes a sample each second; ten minutes
 * are kept, in bounded memory.
 *
 * Threads: machine_sample() one; the others any.
 */
#ifndef DAEMON_MACHINE_H
#define DAEMON_MACHINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/host/machine/subject.h"

struct history;
struct machine;

#define MACHINE_INTERVAL_MS 1000
/* The limit of programs that are measured: those that announced themselves first. */
#define MACHINE_MAX_PROCESSES 512u

struct machine_process {
	uint64_t
		/* Above 0, never used again, and greater than the ids of all earlier programs. */
		id;
	pid_t pid;
	uid_t uid;
	char name[SUBJECT_NAME_BYTES];
};

struct machine_config {
	const char *root; /* "", or a test's fake root; borrowed */
	const char *nvml; /* a path, or NULL for the system's library */
	/*
	 * Writes the programs that live now, by id, at most |max|, and returns their number. NULL:
	 * there are none. The callback must not call functions of this file, because the mutex is
	 * held.
	 */
	size_t (*list)(void *context, struct machine_process *out, size_t max);
	void *context;
};

/* 0 or -ENOMEM; caller owns *out. Takes no sample yet. */
int machine_new(const struct machine_config *config, struct machine **out);
struct machine *machine_free(struct machine *m); /* NULL ok; returns NULL */

/*
 * Takes a sample. |now_ns|: CLOCK_MONOTONIC, later than in the call before. This takes less than a
 * millisecond as a rule, and memory only for new subjects. It asks no driver, because a driver may
 * not answer.
 */
void machine_sample(struct machine *m, int64_t now_ns);

/* Calls |read| with the history, which does not change meanwhile. Returns the result of |read|. */
int machine_read(
	struct machine *m, int (*read)(const struct history *h, void *context), void *context);

/*
 * Like machine_read(), but if no sample is later than |at_ns|, and |now_ns| is later than it, first
 * takes one more sample (both CLOCK_MONOTONIC). Only |read| sees that sample, as the last one. It
 * contains no programs, and no subjects that came after the last regular sample.
 */
int machine_read_behind(struct machine *m, int64_t at_ns, int64_t now_ns,
	int (*read)(const struct history *h, void *context), void *context);

/* The group of programs, which not every caller may see. */
extern const struct metric_group machine_process_group;

#endif
