/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf events of a capture's processes, and the rings that they write to. A thread is covered
 * in one of two ways:
 *
 * - By one event for each processor, which the threads that it starts inherit. All such events of a
 *   processor write to one ring, whatever their processes.
 * - By one event with a ring of its own. Threads that start later get theirs after the record of
 *   their start was drained. (An event of all processors may not write to the ring of another
 *   thread's event, and an inherited one may have no ring.)
 *
 * A process is covered in the second way if the set would have more than 10,000 descriptors
 * otherwise, or more than the server may have, or if the kernel is older than 5.13.
 *
 * Processors that are switched on later have no events.
 *
 * Threads: a set belongs to one thread, from perf_set_open() to perf_set_close(). The kernel checks
 * the rights of that thread.
 */
#ifndef DAEMON_PERF_SET_H
#define DAEMON_PERF_SET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct diag;
struct perf_options;
struct perf_record;
struct perf_set;

/*
 * Finds out what the kernel permits. 0, or a negative errno with the reason and the remedy in |d|.
 * Owner: perf_set_close().
 */
int perf_set_open(struct perf_set **out, const struct perf_options *options, struct diag *d);
/* Closes all events. NULL is allowed. */
void perf_set_close(struct perf_set *s);

/* Returns true if the samples include kernel code that the threads call. */
bool perf_set_has_kernel(const struct perf_set *s);

/* An outcome of perf_set_add_process(). */
#define PERF_SET_PARTIAL 1

/*
 * Covers all threads of the process |pid|, but not its children; nothing happens if it is covered.
 * Samples are taken from then on. Not to be called from a function that perf_set_drain() calls.
 * Returns 0; PERF_SET_PARTIAL: some threads got no event, and |d| says why; or a negative errno
 * with the reason and the remedy in |d|: -ESRCH: it has ended; -EACCES: it may not be sampled.
 */
int perf_set_add_process(struct perf_set *s, pid_t pid, struct diag *d);

/* Closes the events of a process that has ended. Drain before: rings of its threads go away. */
void perf_set_remove_process(struct perf_set *s, pid_t pid);

/*
 * Returns a descriptor for poll(2). It becomes readable, until the next drain, when half of a ring
 * was written that is too small for 100 ms, or a thread with a ring of its own has ended. Borrowed.
 */
int perf_set_get_fd(const struct perf_set *s);

/*
 * Calls |take| with each record that is in the rings, ring after ring: times ascend only within a
 * processor or a thread. Then covers threads that have started. |record| is valid during the call.
 * Returns how full the fullest ring was, in percent.
 */
unsigned perf_set_drain(struct perf_set *s,
	void (*take)(void *context, const struct perf_record *record), void *context);

/* Totals since perf_set_open(). */
struct perf_counts {
	/*
	 * Records of any kind that the kernel dropped because a ring was full. Linux before 6.0
	 * tells only those for which a later record found room.
	 */
	uint64_t n_lost;
	uint64_t n_throttles; /* times that the kernel paused an event, because it took too long */
	uint64_t n_broken; /* records that made no sense, and rings skipped for one */
	uint64_t n_repeated; /* records left out, because of perf_repeats.h */
	uint64_t n_uncovered; /* threads without an event, because rings or descriptors ran out */
};

/* Reads the totals, with one system call for each event. */
void perf_set_count(const struct perf_set *s, struct perf_counts *out);

#endif
