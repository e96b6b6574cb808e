/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The window of time that a thread's records cover, when they come from a ring that overwrites its
 * oldest ones.
 */
#ifndef DAEMON_THREAD_WINDOW_H
#define DAEMON_THREAD_WINDOW_H

#include <stddef.h>
#include <stdint.h>

struct drain_budget;
struct thread_log;

/* The number of entries of |log|. */
uint64_t thread_window_count(const struct thread_log *log);

/*
 * The end of the last entry of |log|, which has eras; 0: there is no entry, or its time is unknown.
 */
uint64_t thread_window_find_last_end(const struct thread_log *log);

/*
 * The index of the first entry at the slot |position| or behind it. *n_out is the number of entries
 * before that entry.
 */
size_t thread_window_pass(const struct thread_log *log, size_t position, uint64_t *n_out);

/*
 * Removes entries that ended before |from_ticks| (0: none), which is no loss, and sets
 * log->window_ticks and log->complete_ticks. Removes entries of unknown time and all older ones,
 * too, and counts those that may have ended at |from_ticks| or later. The entries that had no room
 * in memory (log->n_left_out) count as lost, unless the others reach back far enough. |log| has
 * eras.
 */
void thread_window_limit(struct thread_log *log, uint64_t from_ticks, struct drain_budget *budget);

/*
 * The earliest begin of a record in |log|, or |before| if that is earlier. In a log without eras
 * all records ended at |earliest_ticks| or later; records of an unknown era are ignored.
 */
uint64_t thread_window_find_first(
	const struct thread_log *log, uint64_t earliest_ticks, uint64_t before);

#endif
