/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of digest_make(), for the files that it is in. */
#ifndef TRACE_REPORT_DIGEST_PARTS_H
#define TRACE_REPORT_DIGEST_PARTS_H

struct diag;
struct digest;
struct digest_plane;
struct item;
struct view_track;

/* Reads a track of any kind. 0, or a negative errno with |d|. */
int digest_read_track(struct digest *g, const struct view_track *track, struct diag *d);
/* A span that may be a step, or the end of a flow. 0 or -ENOMEM. */
int digest_add_marks(struct digest *g, struct digest_plane *plane, const struct item *item);
/* Finds what the tracks of all processes cover together. 0, or a negative errno with |d|. */
int digest_cover(struct digest *g, struct diag *d);

#endif
