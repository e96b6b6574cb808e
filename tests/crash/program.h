/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that plays the script, under ptrace: it stops before each act, and some acts are
 * single-stepped.
 */
#ifndef TESTS_CRASH_PROGRAM_H
#define TESTS_CRASH_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/crash/script.h"

/* The reason why no program can be stepped here; NULL: one can. */
const char *program_why_not(void);

/* Starts a new program, which stops before act |first|. |other|, if not NULL, replaces that act. */
pid_t program_start(size_t first, const struct act *other);
/* Continues from before an act to before the next one. */
void program_play(pid_t pid);
/*
 * Steps one instruction. Returns false when the act is over and the program is stopped before the
 * next one.
 */
bool program_step(pid_t pid, size_t act);
uint64_t program_get_pc(pid_t pid);
/* Writes |n| zero bytes to the address |at| of the program. */
void program_clear(pid_t pid, void *at, size_t n);
/* Writes |value| to |at|, and leaves the four bytes after it unchanged. */
void program_write(pid_t pid, void *at, uint32_t value);
void program_kill(pid_t pid);

#endif
