/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a ring's pages; see map.h. */
#include "lib/record/map.h"

#include <errno.h>
#include <sys/mman.h>

#include "lib/wire/ring.h"

int map_ring(struct ring *ring, uint32_t ring_bytes)
{
	int saved = errno;
	int result = 0;
	uint64_t n = ring_stride_bytes(ring_bytes);

	if (mprotect(ring, n, PROT_READ | PROT_WRITE))
		result = -errno;
	/* Before Linux 5.14 (EINVAL) the server has allocated the pages that it declared ready. */
	else if (madvise(ring, n, MADV_POPULATE_WRITE) && errno != EINVAL)
		result = -errno;
	errno = saved;
	return result;
}
