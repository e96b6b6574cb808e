/* SPDX-License-Identifier: Apache-2.0 */
/* Words that somebody else chose, on the user's terminal. */
#ifndef CLIENT_TERMINAL_H
#define CLIENT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Without control characters and without bytes that are not UTF-8: '?' stands for each. */
void terminal_write(const char *text, FILE *out);

/* "  LABEL: TEXT" as a line. */
void terminal_write_line(const char *label, const char *text, FILE *out);

/* |word| as a shell reads it back: in single quotes when it holds anything out of the ordinary. */
void terminal_write_word(const char *word, FILE *out);

/* Columns of the terminal that |out| is; 0 if it is none, or does not tell. */
size_t terminal_get_width(FILE *out);
/* Whether colours are welcome: on a terminal that has any, unless the user said NO_COLOR. */
bool terminal_has_color(FILE *out);

#endif
