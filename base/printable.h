/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes text from elsewhere safe for a terminal: without line breaks, escape sequences, characters
 * that reverse the order of the text, and bytes that are not UTF-8.
 */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

#include <stddef.h>

/*
 * Returns the number of bytes (1 to 4) of the printable character that begins at |p|, or 0 if there
 * is none within |n|. Not printable are control characters (C0, DEL, C1; U+202A to U+202E and
 * U+2066 to U+2069, which reorder the text around them), and bytes that belong to no character.
 */
size_t printable_length(const char *p, size_t n);

/*
 * Takes one step over a text of |n| > 0 bytes, and returns the step's length in bytes, at least 1.
 * *kept is how many of these bytes may be printed: all, or 0 when a '?' replaces them.
 */
size_t printable_next(const char *p, size_t n, size_t *kept);

/*
 * Replaces every control character and every byte that belongs to no character by one '?', in
 * place; the text never grows.
 */
void printable_clean(char *text);

#endif
