/* SPDX-License-Identifier: Apache-2.0 */
/* Writes text from other machines and processes to the user's terminal. */
#ifndef CLIENT_TERMINAL_H
#define CLIENT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes |text| with '?' in place of control characters and of bytes that are not UTF-8. */
void terminal_write(const char *text, FILE *out);

/* Writes the line "  LABEL: TEXT". */
void terminal_write_line(const char *label, const char *text, FILE *out);

/* Writes |word| so that a shell reads it back: in single quotes where that is needed. */
void terminal_write_word(const char *word, FILE *out);

/* The number of columns of the terminal |out|; 0 if it is no terminal, or does not tell. */
size_t terminal_get_width(FILE *out);
/* Whether to write colours: |out| is a terminal that has them, and NO_COLOR is not set. */
bool terminal_has_color(FILE *out);

#endif
