/* SPDX-License-Identifier: Apache-2.0 */
/* The walk that makes an archive's index; see archive.h. */
#ifndef TRACE_READ_ARCHIVE_INDEX_H
#define TRACE_READ_ARCHIVE_INDEX_H

struct diag;
struct pb_field;
struct archive;
struct archive_plane;

/* Where errors go. */
struct indexing {
	struct archive *archive;
	struct diag *diag;
};

/* Of all that is in archive->data. 0, or a negative errno with the text filled in. */
int archive_index(struct indexing *x);
/* An XPlane. */
int archive_index_plane(struct indexing *x, const struct pb_field *field);
void archive_plane_deinit(struct archive_plane *plane);
/* An XLine of the plane, which has all its metadata. */
int archive_index_line(
	struct indexing *x, struct archive_plane *plane, const struct pb_field *field);
/* When all lines were read: names for the events that have none. */
int archive_name_unknown(struct indexing *x, struct archive_plane *plane);

/* A name's bytes, never NULL. One with a zero byte, which ends it, is counted. */
const char *indexing_get_name(struct indexing *x, const struct pb_field *f);

struct pb_reader;
int indexing_fail_memory(struct indexing *x);
/* Somebody writes into the file meanwhile. */
int indexing_fail_changed(struct indexing *x);
/* Says at which offset, in what kind of |message|, and what is wrong there. */
int indexing_fail(struct indexing *x, const struct pb_reader *at, const char *message);

#endif
