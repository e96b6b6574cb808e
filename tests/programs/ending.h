/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that end a program, or one of its threads. */
#ifndef TESTS_PROGRAMS_ENDING_H
#define TESTS_PROGRAMS_ENDING_H

/* These two leave a span open, and write no core file. */
void ending_crash(char *arguments);
void ending_abort(char *arguments);

/* Calls _exit(3) with a span open. */
void ending_exit(char *arguments);

/* Ends one thread with an open span; the program goes on. */
void ending_thread(char *arguments);

/*
 * NAME: waits until a capture records, then starts a thread that opens the span "serve" (id=-77,
 * path=/v1/x) and in it "lock" (n=64, load=0.5), and waits for a lock that is never released.
 * Answers its tid when both spans are open.
 */
void ending_hang(char *arguments);

/* NAME SIGNAL: the same, but the thread raises that signal instead of waiting for a lock. */
void ending_in_thread(char *arguments);

/* Executes the program again in the same process, which answers "ready" again. */
void ending_exec(char *arguments);

#endif
