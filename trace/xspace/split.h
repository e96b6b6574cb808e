/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts an XSpace that is too large for its reader into several, by time: each has all planes and lines, with what they say
 * of themselves, and the events that begin in its part of the time. Little memory is needed, however large it is.
 *
 * A last plane, PLANE_PART (space.h), says which part it is: with it readers put the parts together again (read/archive_join.h).
 */
#ifndef TRACE_SPLIT_H
#define TRACE_SPLIT_H

#include <stddef.h>
#include <stdint.h>

struct diag;

#define SPLIT_MAX_PARTS 256
#define SPLIT_MARK_BYTES 128 /* of the mark, at most */

struct split {
	/* Given by the caller. */
	const uint8_t *data; /* a readable XSpace, as outline_read() finds out */
	size_t n_bytes;
	uint64_t max_bytes; /* of a part */
	uint64_t id; /* that the parts are marked with: of this capture and no other */
	/* As of outline_read(). */
	int (*pass)(const uint8_t *p, void *context);
	void *context;

	/* The plan. */
	size_t n_parts;
	int64_t starts_ns[SPLIT_MAX_PARTS]; /* of parts but the first; the time of events */
	uint64_t part_bytes
		[SPLIT_MAX_PARTS]; /* of each, at most; all but some of SPLIT_MARK_BYTES are used */
};

/* 0; -EFBIG with |d| when it cannot be cut like that; or another negative errno with |d|. */
int split_plan(struct split *s, struct diag *d);
/* The part of an event that begins at |time_ns|. */
size_t split_find_part(const struct split *s, int64_t time_ns);
/* Writes each part to its descriptor, an empty file. 0, or a negative errno. */
int split_write(const struct split *s, const int *fds);

#endif
