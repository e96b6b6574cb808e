/* SPDX-License-Identifier: Apache-2.0 */
/* Breaks sentences into lines. Columns are characters of UTF-8. */
#ifndef BASE_LINE_BREAK_H
#define BASE_LINE_BREAK_H

#include <stddef.h>
#include <stdio.h>

/*
 * Returns the length of the first line of |text| in bytes. The line ends at the last blank that
 * fits. A first word that is longer than the line is not broken.
 */
size_t line_break_find(const char *text, size_t n_columns);

/* Prints lines of |width| columns, each of which begins with |begin|, a text in ASCII. */
void line_break_print(FILE *out, const char *begin, const char *text, size_t width);

#endif
