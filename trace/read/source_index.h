/* SPDX-License-Identifier: Apache-2.0 */
/* The walk that makes a source's index; see source.h. */
#ifndef TRACE_READ_SOURCE_INDEX_H
#define TRACE_READ_SOURCE_INDEX_H

struct diag;
struct pb_field;
struct source;

/* Where errors go. */
struct indexing {
	struct source *source;
	struct diag *diag;
};

/* Of all that is in source->data. 0, or a negative errno with the text filled in. */
int source_index(struct indexing *x);
/* An XPlane. */
int source_index_plane(struct indexing *x, const struct pb_field *field);
/* An XLine of the plane, which has all its metadata. */
struct source_plane;
int source_index_line(struct indexing *x, struct source_plane *plane, const struct pb_field *field);

struct pb_reader;
int indexing_fail_memory(struct indexing *x);
/* Says at which offset, in what kind of |message|, and what is wrong there. */
int indexing_fail(struct indexing *x, const struct pb_reader *at, const char *message);

#endif
