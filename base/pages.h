/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares memory that is fresh from the kernel, before it is written to: the first touch of each
 * page costs more than writing to it. The bytes need not begin or end at a page's boundary. If the
 * kernel does not support it, nothing happens.
 */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

/*
 * Asks for large pages. Touched memory may take some 2 MiB more then, so less than 4 MiB are left
 * as they are.
 */
void pages_make_large(void *data, size_t n);

/* Makes all pages at once; less than 64 KiB are left as they are. Existing contents stay. */
void pages_make(void *data, size_t n);

#endif
