/* SPDX-License-Identifier: Apache-2.0 */
/* A part of a session on its way to a trace: what was held of it, put together. */
#ifndef DAEMON_CONTINUOUS_PART_H
#define DAEMON_CONTINUOUS_PART_H

struct async_carries;
struct recording;
struct slice;

struct continuous_part {
	struct recording *recording; /* malloc'ed, as recording_cut() makes it */
	struct slice *slices; /* older than it, the oldest first */
	const struct async_carries *carries; /* borrowed: of the part before */
};

/*
 * Makes of recording and slices one recording, for capture_trace_make(); its origin is set. One slice goes to a spool after
 * the other, so that what was held is let go while it is turned into events; without a spool all is put into its logs. What
 * is missing for lack of memory is said by its |error|.
 */
void continuous_part_join(struct continuous_part *p);

#endif
