/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second thread of a spooler: puts the events of one part in order, encodes and appends them, while the first one makes
 * events of the next. Only where nobody needs the processor more: docs/internals/recorder.md, "Two threads".
 *
 * Threads: all functions from one, the spooler's. Spool, keep and tracks are the writer's until part_writer_settle().
 */
#ifndef DAEMON_PART_WRITER_H
#define DAEMON_PART_WRITER_H

struct events;
struct memory_budget;
struct part_writer;
struct spool;
struct track;

/* Both are borrowed. Owner: *out belongs to the caller. 0, -ENOMEM, or another negative errno: there is no thread. */
int part_writer_new(struct spool *spool, struct memory_budget *keep, struct part_writer **out);
/* NULL ok; returns NULL. Waits as below. */
struct part_writer *part_writer_free(struct part_writer *w);

/*
 * Takes what is in |events|, none of which has stats, for |track|, and leaves it empty. Waits while too much is under way;
 * before that it puts them in order itself. 0 or -ENOMEM, also when that was of an earlier part.
 */
int part_writer_give(struct part_writer *w, struct track *track, struct events *events);
/* Waits for all that was given. 0 or -ENOMEM. */
int part_writer_settle(struct part_writer *w);
/* The same, and ends the thread: from here on who gives writes, too. */
int part_writer_end(struct part_writer *w);

#endif
