/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input, output and error, which the caller may have left closed. */
#ifndef CLIENT_STREAMS_H
#define CLIENT_STREAMS_H

/*
 * Call it first in main(). A closed standard descriptor becomes one whose writes fail, so that no
 * socket or trace file gets its number and printf()'s output. From then on a write beyond the limit
 * on the size of files fails with EFBIG and does not end the program.
 */
void streams_start(void);

/*
 * For a command that writes a trace to standard output: if the reader goes away, writing fails with
 * EPIPE.
 */
void streams_expect_pipe(void);

/* Undoes streams_start(), in a process that is about to execute another program. */
void streams_give_back(void);

/*
 * Says once that standard output could not be written, for the reason |r|. Returns the first
 * reason.
 */
int streams_fail(int r);

/*
 * Flushes standard output. 0, or a negative errno, with a message, when some of it could not be
 * written.
 */
int streams_finish(void);

#endif
