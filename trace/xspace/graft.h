/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graft is the trace of one process as a part of another trace: on the other trace's time, its
 * planes named and numbered per process. It is made from encoded bytes without decoding them, in
 * little memory however large they are: the bytes that change lie in memory (the frame), all others
 * stay in their file (the ranges).
 */
#ifndef TRACE_GRAFT_H
#define TRACE_GRAFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/chunks.h"

struct names;
struct pb_field;

/* Bytes of the file that follow the first |at| bytes of the frame; |at| does not count ranges. */
struct graft_range {
	uint64_t at;
	uint64_t offset;
	uint64_t n_bytes;
};

struct graft {
	/* Given by the caller. */
	const uint8_t *data; /* an XSpace that proftap wrote: the file's first |n_bytes| bytes */
	size_t n_bytes;
	int64_t pid;
	/*
	 * The names of the other trace's planes if both traces are of the same process: then only
	 * planes whose names are taken are renamed. NULL: the processes differ, and all planes are
	 * renamed.
	 */
	const struct names *taken;
	/*
	 * The start of this trace on the time of the other. If it is below 0, events that were open
	 * at the other's start are cut there, and events that had ended are left out.
	 */
	int64_t shift_ns;
	/*
	 * Called often: graft_make() has read the bytes before |p|, and may read them again. 0,
	 * or an errno that ends the work.
	 */
	int (*pass)(const uint8_t *p, void *context);
	/* Appends to the file. 0 or a negative errno. */
	int (*store)(const struct chunks *bytes, uint64_t *offset, void *context);
	void *context;

	/* The outcome. */
	struct chunks frame;
	struct graft_range *ranges; /* in the order of |at| */
	size_t n_ranges;
	size_t n_ranges_allocated;
	uint64_t total_bytes; /* of frame and ranges */
	uint64_t n_left_out; /* events */
};

/* 0, -ENOMEM, -EBADMSG if |data| is no XSpace, or the errno of a callback. */
int graft_make(struct graft *g);
void graft_deinit(struct graft *g);

/* --- names and process ids of planes ---------------------------------------------------------- */

/*
 * Makes the plane's new name. "/host:CPU" becomes "/host:CPU name [pid]", and "/host:CPU samples"
 * becomes "/host:CPU name [pid] samples"; planes of the process's own children have such names
 * already. *out is malloc'ed. 0, -ENOMEM or -EBADMSG.
 */
int graft_plane_make_name(const struct pb_field *plane, int64_t pid, char **out);

#define GRAFT_PID_BYTES 96 /* size limit of a plane's process id, as a stat with its metadata */

/*
 * Writes the process id as a stat of the encoded |plane| to |out|, which has GRAFT_PID_BYTES.
 * Returns the number of bytes: 0 if the plane has a process id already, or belongs to none.
 */
size_t graft_plane_encode_pid(const struct pb_field *plane, int64_t pid, uint8_t *out);

/* True if the plane's name is one of |names|. */
bool graft_plane_is_named(const struct pb_field *plane, const struct names *names);

#endif
