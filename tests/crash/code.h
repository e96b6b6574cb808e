/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions of lib/record in this very program, as objdump lists them, and which of them
 * were reached.
 */
#ifndef TESTS_CRASH_CODE_H
#define TESTS_CRASH_CODE_H

#include <stddef.h>
#include <stdint.h>

/* 0, or that it cannot be done here: no objdump, or no debug information. */
int code_load(void);
/* Returns 1 when it is one of them. */
int code_reach(uint64_t pc);
/* Whether it is in this program at all, and not in a library. */
int code_is_program(uint64_t pc);
size_t code_count(void);
/* How many were not reached; prints each with its line. */
size_t code_report(void);

#endif
