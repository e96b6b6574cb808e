/* SPDX-License-Identifier: Apache-2.0 */
/* An array of numbers as text. */
#ifndef INJECT_NVTX_LIST_TEXT_H
#define INJECT_NVTX_LIST_TEXT_H

#include <stddef.h>

struct field;

/* What is longer ends in "...]". */
#define LIST_TEXT_BYTES 128

/* "[1, 2, 3]" of the |n| elements at |at|, of a field of numbers. */
void list_text(char to[LIST_TEXT_BYTES], const struct field *f, const char *at, size_t n);

#endif
