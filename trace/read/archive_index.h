/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the index of an archive. */
#ifndef TRACE_READ_ARCHIVE_INDEX_H
#define TRACE_READ_ARCHIVE_INDEX_H

struct archive;
struct archive_plane;
struct diag;

/* Indexes all bytes at archive->data. 0, or a negative errno with |d|. */
int archive_index(struct archive *archive, struct diag *d);
void archive_plane_deinit(struct archive_plane *plane);

#endif
