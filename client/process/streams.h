/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input, output and error as the caller gave them, or did not. */
#ifndef CLIENT_STREAMS_H
#define CLIENT_STREAMS_H

/*
 * First thing in main(): a standard descriptor that is closed gets one that fails, so that no socket
 * or trace file takes its number and is written to by printf(). A limit on the size of files is then
 * an error like others (EFBIG) and not the end of the program.
 */
void streams_start(void);

/* For a command that writes a trace to standard output: a reader that goes away is an error (EPIPE), too. */
void streams_expect_pipe(void);

/* Undoes that of streams_start(), in a process that is about to execute another program. */
void streams_give_back(void);

/* Says, once, that standard output could not be written, |r| being the reason; returns that. */
int streams_fail(int r);

/* Whether all that was printed on standard output got there. Flushes it; says why not. */
int streams_finish(void);

#endif
