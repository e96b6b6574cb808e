/* SPDX-License-Identifier: Apache-2.0 */
/* What a program prints, for questions that have no better answer. */
#ifndef CLIENT_PRINTED_H
#define CLIENT_PRINTED_H

#include <stddef.h>

/*
 * Runs argv[0], found in PATH; |argv| ends with NULL. Its output and error are in |out|, cut, without the last line break. Its exit status,
 * -ENOENT: there is none; or what outsourced_run() says.
 */
int printed_get(const char *const *argv, char *out, size_t n);

#endif
