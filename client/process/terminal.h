/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The standard streams. Text from other machines and processes is made harmless for the user's
 * terminal.
 */
#ifndef CLIENT_TERMINAL_H
#define CLIENT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes |text| with '?' in place of control characters and of bytes that are not UTF-8. */
void terminal_write(const char *text, FILE *out);

/* Writes the line "  LABEL: TEXT". */
void terminal_write_line(const char *label, const char *text, FILE *out);

/* Writes |word| in the form in which a shell reads it: in single quotes if necessary. */
void terminal_write_word(const char *word, FILE *out);

/* The number of columns of the terminal |out|; 0 if it is no terminal, or does not report them. */
size_t terminal_get_width(FILE *out);

/* --- colours ---------------------------------------------------------------------------------- */

#define TERMINAL_BOLD "\033[1m"
#define TERMINAL_DIM "\033[2m"
#define TERMINAL_RED "\033[31m"
#define TERMINAL_GREEN "\033[32m"
#define TERMINAL_YELLOW "\033[33m"
#define TERMINAL_PLAIN "\033[0m"

/* Returns true if |out| is a terminal that has colours, and NO_COLOR is not set. */
bool terminal_has_color(FILE *out);

/* Writes |text| as terminal_write() does, in |color|; "" is no colour. */
void terminal_write_colored(const char *color, const char *text, FILE *out);

/* --- standard streams ------------------------------------------------------------------------- */

/*
 * Call it first in main(). A closed standard descriptor becomes one whose writes fail, so that no
 * socket or trace file gets its number, and printf() does not write to them. From then on a write
 * beyond the limit on the size of files fails with EFBIG and does not end the program.
 */
void streams_start(void);

/*
 * For a command that writes a trace to standard output: if the reader goes away, writing fails with
 * EPIPE.
 */
void streams_expect_pipe(void);

/* Undoes streams_start(), in a process that is about to execute another program. */
void streams_give_back(void);

/*
 * Prints once that standard output could not be written, for the reason |r|.
 * Returns the first reason.
 */
int streams_fail(int r);

/*
 * Flushes standard output. 0, or a negative errno, with a message, when some of it could not be
 * written.
 */
int streams_finish(void);

#endif
