/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program may be recorded by proftap and by JAX's profiler server at once. Their traces become
 * one process if both have one of its threads: the plane stat ptap_stock_thread_ids maps proftap's
 * lines to the ids that JAX's server gives threads.
 */
#ifndef TRACE_READ_STOCK_THREADS_H
#define TRACE_READ_STOCK_THREADS_H

struct view;

/* Joins such processes of |view|, and makes the tracks of one thread one row. 0 or -ENOMEM. */
int stock_threads_join(struct view *view);

#endif
