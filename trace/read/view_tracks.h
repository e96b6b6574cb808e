/* SPDX-License-Identifier: Apache-2.0 */
/* The processes and tracks of a view, made from the planes and lines of its archives. */
#ifndef TRACE_READ_VIEW_TRACKS_H
#define TRACE_READ_VIEW_TRACKS_H

struct view;

/* Adds the processes and tracks. To be called once, when the hosts are there. 0 or -ENOMEM. */
int view_add_tracks(struct view *v);

#endif
