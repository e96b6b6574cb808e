/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second thread of a spooler. It puts the events of one part in order, encodes and appends
 * them, while the spooler's thread makes events of the next part. It exists only for much data, and
 * if the server may use two processors: docs/internals/recorder.md, "Two threads".
 *
 * Threads: only the spooler's thread calls these functions. Spool, keep and tracks belong to the
 * writer until part_writer_settle().
 */
#ifndef DAEMON_PART_WRITER_H
#define DAEMON_PART_WRITER_H

struct events;
struct memory_budget;
struct part_writer;
struct spool;
struct track;

/*
 * |spool| and |keep| are borrowed. Owner: *out belongs to the caller. 0, -ENOMEM, or the negative
 * errno of the thread's start.
 */
int part_writer_new(struct spool *spool, struct memory_budget *keep, struct part_writer **out);
/* Waits as part_writer_end() does. NULL ok; returns NULL. */
struct part_writer *part_writer_free(struct part_writer *w);

/*
 * Moves |events|, none of which has stats, to |track|. Waits while too many parts are on their way.
 * When the thread has enough to do, the caller puts the events in order. 0, or -ENOMEM, which may
 * be about an earlier part.
 */
int part_writer_give(struct part_writer *w, struct track *track, struct events *events);
/* Waits for all parts. 0 or -ENOMEM. */
int part_writer_settle(struct part_writer *w);
/* Waits for all parts and ends the thread. Then part_writer_give() writes without the thread. */
int part_writer_end(struct part_writer *w);

#endif
