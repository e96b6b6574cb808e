/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which a program ends by itself. */
#ifndef TESTS_PROGRAMS_ENDING_H
#define TESTS_PROGRAMS_ENDING_H

/* Both with a span open, and without a core file. */
void ending_crash(char *arguments);
void ending_abort(char *arguments);

/* _exit(3), with a span open. */
void ending_exit(char *arguments);

/* Ends one thread with an open span; the program goes on. */
void ending_thread(char *arguments);

/*
 * NAME: a thread that opens the span "serve" (id=-77, path=/v1/x) and in it "lock" (n=64,
 * load=0.5), and then waits for a lock for ever. Answers its tid, when both are open. It waits for
 * the recording.
 */
void ending_hang(char *arguments);

/* NAME SIGNAL: the same thread sends itself that signal instead. */
void ending_in_thread(char *arguments);

/* Another run of itself in the same process; says "ready" again. */
void ending_exec(char *arguments);

#endif
