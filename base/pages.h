/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is fresh from the kernel, before it is written to: touched page by page for the first time it costs more than
 * what is written there. The bytes need not begin or end at a page's boundary. Where the kernel cannot do it nothing happens.
 */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

/*
 * Asks for large pages. What is touched may take some 2 MiB more for it, so less than 4 MiB are left as they are.
 */
void pages_make_large(void *data, size_t n);

/* Has all of them made at once; less than 64 KiB are left as they are. What is there already stays what it is. */
void pages_make(void *data, size_t n);

#endif
