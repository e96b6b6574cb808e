/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of one process as a part of another's: on that one's time, its planes named and numbered per process. It is
 * made from encoded bytes without decoding them, in little memory however large it is: what changes lies in memory (the
 * frame), all else stays where it is (ranges of a file).
 */
#ifndef TRACE_GRAFT_H
#define TRACE_GRAFT_H

#include <stddef.h>
#include <stdint.h>

#include "base/chunks.h"

struct names;

/* Bytes of the file that stand behind the first |at| bytes of the frame, ranges not counted. */
struct graft_range {
	uint64_t at;
	uint64_t offset;
	uint64_t n_bytes;
};

struct graft {
	/* Given by the caller. */
	const uint8_t *data; /* an XSpace of ours: what lies in the file from its beginning on */
	size_t n_bytes;
	int64_t pid;
	/* NULL: all planes are of another process than the other trace's. Else they are of the same one, and only those that have a name which is here get another one. */
	const struct names *taken;
	/*
	 * When it began, on the time of the other. Below 0: what began before that is cut at its start, and what ended
	 * before, left out.
	 */
	int64_t shift_ns;
	/* Called often: what is before |p| was read, and may be read again. 0, or an errno that ends it. */
	int (*pass)(const uint8_t *p, void *context);
	/* Appends to the file. 0 or a negative errno. */
	int (*store)(const struct chunks *bytes, uint64_t *offset, void *context);
	void *context;

	/* The outcome. */
	struct chunks frame;
	struct graft_range *ranges; /* in the order of |at| */
	size_t n_ranges;
	size_t n_ranges_allocated;
	uint64_t total_bytes; /* of all */
	uint64_t n_left_out; /* events */
};

/* 0, -ENOMEM, -EBADMSG for what is no XSpace, or what the callbacks say. */
int graft_make(struct graft *g);
void graft_deinit(struct graft *g);

#endif
