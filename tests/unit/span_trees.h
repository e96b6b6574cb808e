/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random records of a busy thread: nested spans with arguments and points in them, from
 * spooled_pick().
 */
#ifndef TESTS_UNIT_SPAN_TREES_H
#define TESTS_UNIT_SPAN_TREES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread_log;

/*
 * Puts at least |n_slots| slots into |log|, from |start| ticks on; two spans are open at the end.
 * With |with_own_lines|, also counters and async spans, which become lines of their own.
 */
void span_trees_fill(struct thread_log *log, uint64_t start, size_t n_slots, bool with_own_lines);

#endif
