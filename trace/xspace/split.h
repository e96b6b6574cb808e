/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts an XSpace that is too large for its reader into several, by time. Each part has all planes
 * and lines, with their names and stats, and the events that begin in its part of the time. Little
 * memory is needed, however large the XSpace is.
 *
 * The last plane of a part, PLANE_PART (space.h), has its number: readers join the parts again
 * (read/archive_join.h).
 */
#ifndef TRACE_SPLIT_H
#define TRACE_SPLIT_H

#include <stddef.h>
#include <stdint.h>

struct diag;

#define SPLIT_MAX_PARTS 256
#define SPLIT_MARK_BYTES 128 /* size limit of the mark */

struct split {
	/* Given by the caller. */
	const uint8_t *data; /* an XSpace that outline_read() accepts */
	size_t n_bytes;
	uint64_t max_bytes; /* size limit of a part */
	uint64_t id; /* goes into the mark of each part: unique to this capture */
	/* Same meaning as in outline_read(). */
	int (*pass)(const uint8_t *p, void *context);
	void *context;

	/* The plan. */
	size_t n_parts;
	/* Start of each part but the first, on the time of events */
	int64_t starts_ns[SPLIT_MAX_PARTS];
	/* Upper bound of each part's size; includes SPLIT_MARK_BYTES */
	uint64_t part_bytes[SPLIT_MAX_PARTS];
};

/* 0; -EFBIG with |d| when parts cannot be made so small; or another negative errno with |d|. */
int split_plan(struct split *s, struct diag *d);
/* Returns the index of the part for an event that begins at |time_ns|. */
size_t split_find_part(const struct split *s, int64_t time_ns);
/* Writes each part to its descriptor, an empty file. 0, or a negative errno. */
int split_write(const struct split *s, const int *fds);

#endif
