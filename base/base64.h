/* SPDX-License-Identifier: Apache-2.0 */
/* Base64, as in RFC 4648, section 4, with padding. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>

#define BASE64_BYTES(n) (((n) + 2) / 3 * 4)

/* Writes BASE64_BYTES(n) characters, not terminated; returns the position after them. */
char *base64_encode(char *out, const void *data, size_t n);

#endif
