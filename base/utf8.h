/* SPDX-License-Identifier: Apache-2.0 */
/* Valid UTF-8 out of anything: protobuf, JSON and terminals refuse or garble the rest. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character that begins at |p| (1 to 4), or 0 if there is no valid one within |n|. */
size_t utf8_length(const char *p, size_t n);
/* The code point of the valid character of |length| bytes at |p|. */
uint32_t utf8_decode(const char *p, size_t length);
/*
 * What is shown for the bytes at |text|: the character that begins there, or U+FFFD for a byte that belongs to none.
 * *|shown| is *|n_shown| bytes, not terminated. Returns how many of the |n| > 0 bytes it stands for.
 */
size_t utf8_next(const char *text, size_t n, const char **shown, size_t *n_shown);
/* Copies |n| bytes with a '?' for every byte that belongs to no valid character: same length. */
void utf8_copy(char *to, const char *text, size_t n);

#endif
