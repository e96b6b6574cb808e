/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random records of a busy thread: nested spans with arguments and points in them, from
 * spooled_pick().
 */
#ifndef TESTS_UNIT_SPAN_TREES_H
#define TESTS_UNIT_SPAN_TREES_H

#include <stddef.h>
#include <stdint.h>

struct thread_log;

/*
 * Puts |n_slots| or some more into |log|, from |start| ticks on; two spans are open at the end.
 * With |with_own_lines| also what becomes lines of its own, of counters and async spans.
 */
void span_trees_fill(struct thread_log *log, uint64_t start, size_t n_slots, int with_own_lines);

#endif
