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
struct pb_field;

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
/* Writes each part to its descriptor, an empty file. 0, or a negative errno. */
int split_write(const struct split *s, const int *fds);

/* --- walking over an encoded space ------------------------------------------------------------ */

/*
 * One walk over an encoded XSpace, for split.c and graft.c: a visitor gets its planes, lines and
 * events as bytes.
 */

struct split_visitor {
	/*
	 * A plane, or a line in it, begins and ends. |number| is its field's number in the message
	 * that it is in; |line_ns| is the timestamp of a line.
	 */
	int (*begin)(
		uint32_t number, const struct pb_field *message, int64_t line_ns, void *context);
	int (*end)(void *context);
	/* The bytes of an event's field, and its start in ns. */
	int (*event)(int64_t time_ns, const uint8_t *p, size_t n, void *context);
	/* The bytes of any other field. */
	int (*other)(const uint8_t *p, size_t n, void *context);
	void *context;
};

/* Ends early with the result of a callback that is not 0; -EBADMSG if the bytes are no XSpace. */
int split_walk(const struct split *s, const struct split_visitor *v);

#endif
