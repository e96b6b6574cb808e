/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which threads a process in another pid namespace has, by the ids that they have there. /proc tells that, a thread at a time, so it
 * is looked up seldom: a thread that ended is taken to live for a while, never one that lives for one that ended.
 */
#ifndef DAEMON_INNER_THREADS_H
#define DAEMON_INNER_THREADS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define INNER_THREADS_MAX_MISSED 1024 /* as many as there are rings */

/* Was not there at a look that was over when it was asked for. */
struct missed_thread {
	pid_t tid;
	int64_t asked_ns;
};

struct inner_threads {
	pid_t *v; /* sorted */
	size_t n;
	size_t n_allocated;
	int64_t read_ns; /* CLOCK_MONOTONIC; 0: never */
	int64_t due_ns; /* not before that again */
	struct missed_thread *missed;
	size_t n_missed;
	size_t n_missed_allocated;
};

/*
 * Whether the thread |tid| of the process |pid| lives, as far as is known at |now_ns| (CLOCK_MONOTONIC). |root| is "" or a test's fake
 * root. |t| is zero at first.
 */
int inner_threads_have(
	struct inner_threads *t, const char *root, pid_t pid, pid_t tid, int64_t now_ns);

void inner_threads_free(struct inner_threads *t);

#endif
