/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a whole machine uses: processors, memory, pressure, disks, networks, GPUs, NPUs, and the
 * programs that announced themselves. A sample a second is for the caller's timer to take; ten
 * minutes are kept, in bounded memory.
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
/* Of more programs these, who came first, are measured. */
#define MACHINE_MAX_PROCESSES 512u

struct machine_process {
	uint64_t
		/* above 0; no other one's, ever; greater than those of programs that came before */
		id;
	pid_t pid;
	uid_t uid;
	char name[SUBJECT_NAME_BYTES];
};

struct machine_config {
	const char *root; /* "", or a test's fake root; borrowed */
	const char *nvml; /* a path, or NULL for the system's library */
	/*
	 * Writes the programs that live now, by id, at most |max| of them, and says how many; NULL:
	 * none. Must not call the machine.
	 */
	size_t (*list)(void *context, struct machine_process *out, size_t max);
	void *context;
};

/* 0 or -ENOMEM; caller owns *out. Takes no sample yet. */
int machine_new(const struct machine_config *config, struct machine **out);
struct machine *machine_free(struct machine *m); /* NULL ok; returns NULL */

/*
 * |now_ns|: CLOCK_MONOTONIC, later than in the call before. Takes below a millisecond, as a rule,
 * and memory only for things that are new; asks no driver, which might not answer.
 */
void machine_sample(struct machine *m, int64_t now_ns);

/*
 * Calls |look| with the history, which is as in history.h and stays as it is meanwhile: samples
 * wait. Returns what it returns.
 */
int machine_read(
	struct machine *m, int (*look)(const struct history *h, void *context), void *context);

/*
 * As machine_read(). When there is no sample younger than |at_ns| yet, and |now_ns| is (both
 * CLOCK_MONOTONIC), one is taken then that |look| sees as the last, and nobody else ever: the
 * history has its sample a second, as without it. Programs are not in it, nor is what has come
 * since the last sample.
 */
int machine_read_behind(struct machine *m, int64_t at_ns, int64_t now_ns,
	int (*look)(const struct history *h, void *context), void *context);

/* The group of programs: for those who must not tell everybody of them. */
extern const struct metric_group machine_process_group;

#endif
