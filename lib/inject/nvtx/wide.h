/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of wider characters as UTF-8. What is no character becomes U+FFFD. */
#ifndef INJECT_NVTX_WIDE_H
#define INJECT_NVTX_WIDE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Writes at most |size| - 1 bytes and a zero, of the |n| characters of |width| bytes (1, 2: UTF-16, 4: UTF-32) at |text|, or
 * as many as are before a zero; SIZE_MAX: until there is one. Any alignment. Returns the number of bytes. A character
 * that does not fit as a whole is left out, and what follows it.
 */
size_t wide_to_utf8(char *to, size_t size, const void *text, size_t width, size_t n);

#endif
