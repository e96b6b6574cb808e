/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions of lib/record in this program, as objdump lists them, and a note for each that
 * was reached.
 */
#ifndef TESTS_CRASH_CODE_H
#define TESTS_CRASH_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0, or a negative errno: there is no objdump or no debug information here. */
int code_load(void);
/* Notes that the instruction at |pc| was reached. Returns true if it is one of lib/record. */
bool code_reach(uint64_t pc);
/* Returns true if |pc| is in this program and not in a shared library. */
bool code_is_program(uint64_t pc);
size_t code_count(void);
/* Prints each instruction that was not reached, with its source line, and returns their number. */
size_t code_report(void);

#endif
