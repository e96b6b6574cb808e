/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes the recording library's own state as other threads, forks and signal handlers would.
 * (lib/record/guest.h cannot be included beside <proftap/proftap.h>.)
 */
#ifndef TESTS_CRASH_INSIDE_H
#define TESTS_CRASH_INSIDE_H

#include <stdint.h>

/* enum arena_clock, of the next capture. */
void inside_set_clock(uint32_t clock);
/* Makes the library read the clock by a system call. */
void inside_use_system_calls(void);
/* Makes the calling thread one that has never recorded; it may be the next owner of its ring. */
void inside_forget_thread(void);
/*
 * Leaves the state after a siglongjmp() out of a handler during the thread's first annotation. 0:
 * resets that state.
 */
void inside_set_entering(uint32_t word);
/* Sets whether an annotation of the calling thread is in progress. */
void inside_set_guard(int is_taken);
/*
 * Leaves the state of a forked child that is followed: its first annotation joins, and finds
 * |word|.
 */
void inside_follow(uint32_t word);

/* The library's function. In C, a macro uses an inline version instead. */
int inside_ask(int level);

/* The addresses of the level word and of the arena's pointer, which a tracer writes. */
uint32_t *inside_word(void);
void *inside_page(void);
#define INSIDE_PAGE_BYTES 4096u

#endif
