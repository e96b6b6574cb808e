/* SPDX-License-Identifier: Apache-2.0 */
/* The stretch of time that a thread's records cover, of those that were copied out of a ring which overwrites its oldest. */
#ifndef DAEMON_THREAD_WINDOW_H
#define DAEMON_THREAD_WINDOW_H

#include <stddef.h>
#include <stdint.h>

struct drain_budget;
struct thread_log;

/* How many entries |log| has. */
uint64_t thread_window_count(const struct thread_log *log);

/* When the last entry of |log|, which has eras, ended; 0: it has none, or nobody knows. */
uint64_t thread_window_find_last_end(const struct thread_log *log);

/* Where the first entry at the slot |position| or behind it begins. *n_out is how many there are before. */
size_t thread_window_pass(const struct thread_log *log, size_t position, uint64_t *n_out);

/*
 * Leaves out what had ended before |from_ticks| (0: nothing), which is no loss, and notes log->window_ticks and log->complete_ticks. What nobody knows
 * the time of, and all that is older, is left out, too, and counted, unless it surely ended before. What memory was too short
 * for (log->n_left_out) is lost, unless what is there reaches back far enough. |log| has eras.
 */
void thread_window_limit(struct thread_log *log, uint64_t from_ticks, struct drain_budget *budget);

/*
 * When the first record of |log| began; |before| if that is earlier. Without eras all ended at |earliest_ticks| or later; what
 * is of one that is not known is passed over.
 */
uint64_t thread_window_find_first(
	const struct thread_log *log, uint64_t earliest_ticks, uint64_t before);

#endif
