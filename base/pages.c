/* SPDX-License-Identifier: Apache-2.0 */
/* Fresh memory; see pages.h. */
#include "base/pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/kernel_numbers.h"

#define MIN_LARGE_BYTES ((size_t)4 << 20)
#define MIN_BYTES ((size_t)64 << 10)

/* Calls madvise() for the pages that lie completely within the memory. */
static void pages_advise(void *data, size_t n, int advice)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)data + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)data + n) & ~(page - 1);

	madvise((void *)from, end - from, advice);
}

void pages_make_large(void *data, size_t n)
{
	if (n >= MIN_LARGE_BYTES)
		pages_advise(data, n, MADV_HUGEPAGE);
}

void pages_make(void *data, size_t n)
{
	if (n >= MIN_BYTES)
		pages_advise(data, n, MADV_POPULATE_WRITE);
}
