/* SPDX-License-Identifier: Apache-2.0 */
/* Converts texts of wide characters to UTF-8. Invalid ones become U+FFFD, unless the width is 1. */
#ifndef INJECT_NVTX_WIDE_H
#define INJECT_NVTX_WIDE_H

#include <stddef.h>

/*
 * Converts |n| characters of |width| bytes (1, 2: UTF-16, 4: UTF-32) at |text|, with any alignment,
 * or fewer if a zero comes before; SIZE_MAX: up to the zero. Writes at most |size| - 1 bytes and a
 * zero; a character that does not fit as a whole ends the text. Returns the number of bytes.
 */
size_t wide_to_utf8(char *to, size_t size, const void *text, size_t width, size_t n);

#endif
