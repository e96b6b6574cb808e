/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes the recording library's own state as other threads, forks and signal handlers would.
 * (lib/record/guest.h cannot be included beside <proftap/proftap.h>.)
 */
#ifndef TESTS_CRASH_INSIDE_H
#define TESTS_CRASH_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

/* Sets the clock of the next capture, an enum arena_clock. */
void inside_set_clock(uint32_t clock);
/* Makes the library read the clock by a system call. */
void inside_use_system_calls(void);
/* Makes the calling thread one that has never recorded, such as the next owner of its ring. */
void inside_forget_thread(void);
/*
 * Sets the state that a siglongjmp() out of a handler leaves during the thread's first annotation.
 * |word| 0 resets that state.
 */
void inside_set_entering(uint32_t word);
/* Sets whether an annotation of the calling thread is in progress. */
void inside_set_guard(bool is_taken);
/*
 * Sets the state of a forked child that is followed: its first annotation joins, and finds the
 * level word |word|.
 */
void inside_follow(uint32_t word);

/* Calls the library's function ptap_enabled(). In C, a macro uses an inline version instead. */
int inside_ask(int level);

/* The addresses of the level word and of the arena's pointer, which a tracer writes. */
uint32_t *inside_word(void);
void *inside_page(void);
#define INSIDE_PAGE_BYTES 4096u

#endif
