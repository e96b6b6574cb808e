/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that plays the script, under ptrace: it stops before each act, and is stepped through
 * some.
 */
#ifndef TESTS_CRASH_PROGRAM_H
#define TESTS_CRASH_PROGRAM_H

#include <stdint.h>
#include <sys/types.h>

#include "tests/crash/script.h"

/* NULL, or why nothing can be stepped here. */
const char *program_why_not(void);

/* A new one, stopped before act |first|, of which |other| takes the place, if it is not NULL. */
pid_t program_start(size_t first, const struct act *other);
/* From before an act to before the next one. */
void program_play(pid_t pid);
/* One instruction. Returns 0 when the act is done: then it is stopped before the next one. */
int program_step(pid_t pid, size_t act);
uint64_t program_get_pc(pid_t pid);
/* Writes |n| bytes of zeros to where |at| is in it. */
void program_clear(pid_t pid, void *at, size_t n);
/* The same of |value|, with the four bytes behind it as they are. */
void program_write(pid_t pid, void *at, uint32_t value);
void program_kill(pid_t pid);

#endif
