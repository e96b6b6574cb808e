/* SPDX-License-Identifier: Apache-2.0 */
/* The processes and tracks of a view, made from the planes and lines of its archives. */
#ifndef TRACE_READ_VIEW_TRACKS_H
#define TRACE_READ_VIEW_TRACKS_H

#include <stdint.h>

struct view;

struct archive_plane;

/* Adds the processes and tracks. Call it once, after the hosts were added. 0 or -ENOMEM. */
int view_add_tracks(struct view *v);
/* Returns the pid of the plane's process; 0: it has none. |plane| may be NULL. */
int64_t archive_plane_find_pid(const struct archive_plane *plane);

/* --- stacks of samples ------------------------------------------------------------------------ */

/* Reads the stacks of all planes with CPU samples. 0 or -ENOMEM. */
int view_add_stacks(struct view *v);
/* Returns the view's number of the stack |number| of |plane|; STACKS_NONE: the plane has none. */
uint32_t view_find_stack(const struct view *v, const struct archive_plane *plane, uint64_t number);

/* --- threads that two servers recorded -------------------------------------------------------- */

/*
 * A program may be recorded by proftap and by JAX's profiler server at once. Their traces become
 * one process if both have one of its threads: the plane stat ptap_stock_thread_ids maps proftap's
 * lines to the ids that JAX's server gives threads.
 */

/* Joins such processes of |view|, and makes the tracks of one thread one row. 0 or -ENOMEM. */
int stock_threads_join(struct view *view);

#endif
