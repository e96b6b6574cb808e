/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds records that two events of a thread wrote, each for itself. It happens to a thread that
 * starts while events are opened: it inherits some from the thread that started it, and is listed
 * and gets its own. Of a thread on a processor, the records of one event are the right ones, and
 * any of its events is as good as another.
 *
 * Threads: one at a time.
 */
#ifndef DAEMON_PERF_REPEATS_H
#define DAEMON_PERF_REPEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"

struct perf_chosen;
struct perf_record;

/* All zero is empty. */
struct perf_repeats {
	struct hash_table slots;
	struct perf_chosen *chosen; /* the event that counts, of each thread and processor */
	size_t n_allocated;
	uint32_t n_cpus; /* processors have lower numbers than this */
};

void perf_repeats_deinit(struct perf_repeats *t);

/*
 * Returns true if the thread of |record| has another event on this processor, and that one's
 * records count. The first that writes is chosen. Without memory, nothing is a repetition. A record
 * of a new thread makes room for it, because an ended one may have had the same id.
 */
bool perf_repeats_has(struct perf_repeats *t, const struct perf_record *record);

#endif
