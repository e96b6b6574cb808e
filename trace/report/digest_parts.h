/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of digest_make(), which is in several files. */
#ifndef TRACE_REPORT_DIGEST_PARTS_H
#define TRACE_REPORT_DIGEST_PARTS_H

struct diag;
struct digest;
struct digest_plane;
struct item;
struct view_track;

/* Reads a track of any kind. 0, or a negative errno with |d|. */
int digest_read_track(struct digest *g, const struct view_track *track, struct diag *d);
/* Adds a span as a step and as the end of a flow, if it is one. 0 or -ENOMEM. */
int digest_add_marks(struct digest *g, struct digest_plane *plane, const struct item *item);
/*
 * Finds the time that the tracks of each process cover together. 0, or a negative errno with |d|.
 */
int digest_cover(struct digest *g, struct diag *d);

#endif
