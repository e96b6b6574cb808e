/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the return addresses on a thread's stack from its registers and a copy of the stack, by
 * the unwind tables of the mapped files (.eh_frame), or by frame pointers in code that has none.
 * It uses libdw, which is opened when it is needed.
 *
 * Threads: one at a time for each unwinder. The library is not safe for several threads, so all
 * unwinders of this process take turns.
 */
#ifndef DAEMON_UNWINDER_H
#define DAEMON_UNWINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/model/stacks.h"

struct diag;
struct mappings;
struct perf_sample;
struct unwinder;

struct unwound {
	/*
	 * The place that ran in user mode, then those of the calls that led to it, each one byte
	 * before the call's return address.
	 */
	uint64_t addresses[STACKS_MAX_DEPTH];
	size_t n;
	bool is_cut; /* the outermost frames were beyond the copy of the stack, or too many */
};

/*
 * Makes an unwinder for the process |pid|, whose |mappings| are borrowed. 0; -ENOMEM; or -ENOSYS
 * with |d| if libdw cannot be loaded.
 */
int unwinder_new(pid_t pid, const struct mappings *mappings, struct unwinder **out, struct diag *d);
struct unwinder *unwinder_free(struct unwinder *u); /* NULL ok; returns NULL */

/* Learns the mappings anew: call it after they have changed. 0 or -ENOMEM. */
int unwinder_update(struct unwinder *u);

/* Unwinds a sample with registers. Finds at least one address, if the thread has any. */
void unwinder_unwind(struct unwinder *u, const struct perf_sample *sample, struct unwound *out);

#endif
