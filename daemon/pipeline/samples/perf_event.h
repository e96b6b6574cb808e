/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens perf events that sample threads by their processor time (the event cpu-clock), and tells
 * people why the kernel refuses one.
 *
 * Threads: one at a time for each struct perf_opener. The kernel checks the rights of the calling
 * thread.
 */
#ifndef DAEMON_PERF_EVENT_H
#define DAEMON_PERF_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/pipeline/samples/perf_record.h"

struct diag;

struct perf_options {
	const char *root; /* "", or a test's fake root for /proc and /sys; borrowed */
	unsigned rate_hz; /* samples for a second of processor time; 1 to 4999 */
	/*
	 * How much of a thread's stack is copied into a sample, in bytes: a multiple of 8, up to
	 * 65024. 0: samples have a chain of return addresses instead.
	 */
	unsigned stack_bytes;
	bool has_switches; /* there are records of when threads got and gave up a processor */
};

/* Opens events: it holds the options, and the features that this kernel has and permits. */
struct perf_opener {
	const char *root;
	unsigned rate_hz;
	unsigned stack_bytes;
	bool has_switches;
	struct perf_layout layout; /* of the samples */
	/* of a ring that samples fill by half at most, if it is drained ten times a second; 2^n */
	size_t ring_bytes;
	bool has_kernel; /* samples include kernel code that the threads call */
	bool has_lost; /* perf_opener_read_lost() works; since Linux 6.0 */
	bool has_inherit_thread; /* PERF_USE_INHERITED is possible; since Linux 5.13 */
	bool has_build_ids; /* mappings have build-ids; since Linux 5.12 */
	size_t n_fds; /* open events */
};

/*
 * Tries what the kernel permits. 0, or a negative errno with the reason and the remedy in |d|. The
 * first event of a machine takes the kernel up to 30 ms.
 */
int perf_opener_init(struct perf_opener *o, const struct perf_options *options, struct diag *d);

/* The part that an event has in a set of events. */
enum perf_use {
	PERF_USE_RING, /* it counts nothing, but holds the ring that others write to */
	PERF_USE_INHERITED, /* it samples a thread and those that the thread starts */
	/*
	 * It samples the stacks with which such threads give up the processor. Only if has_kernel.
	 */
	PERF_USE_SWITCHES,
	PERF_USE_THREAD, /* it samples a thread, and has a ring of its own */
};

/*
 * Opens an event of the thread |tid| (0: the caller) on the processor |cpu| (-1: any). Its ring has
 * |ring_bytes|: the kernel wakes poll(2) whenever another half of that was written, and a sample
 * takes at most about a quarter of it. Samples are taken from now on.
 * Returns a descriptor, which perf_opener_close() closes, or a negative errno: -ESRCH: the thread
 * has ended; -ENODEV: the processor is switched off; -EMFILE.
 */
int perf_opener_open(
	struct perf_opener *o, enum perf_use use, pid_t tid, int cpu, size_t ring_bytes);

/*
 * Returns how many records the event |fd|, and those that were inherited from it, dropped because
 * the ring was full; 0 if the kernel does not tell.
 */
uint64_t perf_opener_read_lost(const struct perf_opener *o, int fd);

/* Closes an event and returns what perf_opener_read_lost() does. */
uint64_t perf_opener_close(struct perf_opener *o, int fd);

/* The smallest ring that is worth its event: it has room for three samples with short stacks. */
#define PERF_RING_MIN_BYTES ((size_t)32 << 10)

/* Rings and descriptors that a process needs. */
struct perf_need {
	pid_t pid;
	size_t n_rings;
	size_t n_cpus;
};

/*
 * Explains in |d| why a process cannot be sampled: |r| is a negative errno of this file, or
 * -ENOBUFS if its rings are more memory than the user may lock. Returns |r|, or -ESRCH for -ENOENT.
 */
int perf_opener_refuse(
	const struct perf_opener *o, const struct perf_need *need, int r, struct diag *d);

#define PERF_SHORTAGE_BYTES 512

/* Writes what ran out and what to do, for |r| -ENOBUFS, -EMFILE or another errno. Returns |out|. */
const char *perf_opener_write_shortage(const struct perf_opener *o, const struct perf_need *need,
	int r, char out[PERF_SHORTAGE_BYTES]);

#endif
