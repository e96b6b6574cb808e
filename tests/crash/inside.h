/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other events in a recorded program, done by hand. (lib/record/guest.h cannot be included beside
 * <proftap/proftap.h>.)
 */
#ifndef TESTS_CRASH_INSIDE_H
#define TESTS_CRASH_INSIDE_H

#include <stdint.h>

/* enum arena_clock, of the next capture. */
void inside_set_clock(uint32_t clock);
/* The clock is read by the system call. */
void inside_use_system_calls(void);
/* The calling thread has never recorded, and may be the next one in its ring's place. */
void inside_forget_thread(void);
/* Leaves the state of a siglongjmp() out of a handler in the thread's first annotation; 0: not. */
void inside_set_entering(uint32_t word);
/* An annotation of the calling thread is at work, or none is any more. */
void inside_set_guard(int is_taken);
/* Leaves the state of a followed forked child: its first annotation joins, and finds |word|. */
void inside_follow(uint32_t word);

/* The function; C has a macro's inline one in its place. */
int inside_ask(int level);

/* The addresses of the level word and of the arena's pointer, for writes from outside. */
uint32_t *inside_word(void);
void *inside_page(void);
#define INSIDE_PAGE_BYTES 4096u

#endif
