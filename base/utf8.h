/* SPDX-License-Identifier: Apache-2.0 */
/* Makes valid UTF-8 of any bytes: protobuf, JSON and terminals refuse or garble anything else. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the bytes of the character that begins at |p| (1 to 4), or 0 if there is no valid one
 * within |n|.
 */
size_t utf8_length(const char *p, size_t n);
/* Returns the code point of the valid character of |length| bytes at |p|. */
uint32_t utf8_decode(const char *p, size_t length);
/*
 * Finds the character to show for the bytes at |text|: the one that begins there, or U+FFFD for a
 * byte that belongs to none. *|shown| has *|n_shown| bytes and is not terminated. Returns how many
 * of the |n| > 0 bytes it stands for.
 */
size_t utf8_next(const char *text, size_t n, const char **shown, size_t *n_shown);
/* The mark at the end of a text that was cut. */
#define UTF8_CUT "…"
#define UTF8_CUT_BYTES (sizeof UTF8_CUT - 1)
/*
 * Returns the length of the longest beginning of |text| with at most |n| bytes that ends at the end
 * of a character; |text| is longer than |n|.
 */
size_t utf8_cut(const char *text, size_t n);
/*
 * Replaces the last characters of |text| by "…". The text was cut to |size| bytes with the '\0';
 * |size| is at least 4.
 */
void utf8_mark_cut(char *text, size_t size);
/*
 * Copies |text| into |out|, which has |size| bytes with the '\0', at least 4. A longer text is cut
 * after a whole character and ends with "…". Returns |out|.
 */
const char *utf8_fit(char *out, size_t size, const char *text);
/* Copies |n| bytes, and writes a '?' for each byte that belongs to no valid character. */
void utf8_copy(char *to, const char *text, size_t n);

#endif
