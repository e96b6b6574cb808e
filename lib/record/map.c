/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and populates pages; see map.h. */
#include "lib/record/map.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/kernel_numbers.h"
#include "lib/wire/ring.h"

int map_populate(const void *from, size_t n)
{
	int saved = errno;
	int result = 0;
	uintptr_t start = (uintptr_t)from & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);

	/*
	 * Linux before 5.14 does not know this request (EINVAL), and allocates the pages when they
	 * are touched.
	 */
	if (madvise((void *)start, (uintptr_t)from + n - start, MADV_POPULATE_WRITE) &&
		errno != EINVAL)
		result = errno == EFAULT ? -ENOMEM : -errno;
	errno = saved;
	return result;
}

int map_ring(struct ring *ring, uint32_t ring_bytes)
{
	int saved = errno;
	int result = 0;
	uint64_t n = ring_stride_bytes(ring_bytes);

	if (mprotect(ring, n, PROT_READ | PROT_WRITE))
		result = -errno;
	errno = saved;
	return result ? result : map_populate(ring, n);
}
