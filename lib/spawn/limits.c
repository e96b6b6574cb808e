/* SPDX-License-Identifier: Apache-2.0 */
/* Limits; see limits.h. */
#include "lib/spawn/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "lib/spawn/child.h"
#include "lib/spawn/rawsys.h"

/* An arena with one ring is never too large. */
#define SMALL_BYTES (4u << 20)
#define PAGE_BYTES 4096u /* as small as a page can be: at worst there seems to be more left */

static SPAWN_RAW uint64_t read_limit(int resource)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	raw4(SYS_prlimit64, 0, resource, NULL, &limit);
	return limit.rlim_cur;
}

/* The first number of /proc/self/statm: pages. 0 where there is no /proc. */
static SPAWN_RAW uint64_t used_bytes(void)
{
	char text[32];
	long fd = raw4(SYS_openat, AT_FDCWD, "/proc/self/statm", O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? 0 : raw3(SYS_read, fd, text, sizeof text);
	uint64_t pages = 0;

	for (long i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++)
		pages = pages * 10 + (uint64_t)(text[i] - '0');
	if (fd >= 0)
		raw1(SYS_close, fd);
	return pages * PAGE_BYTES;
}

SPAWN_RAW int limits_check(uint64_t bytes)
{
	uint64_t space = read_limit(RLIMIT_AS);
	uint64_t used;

	if (read_limit(RLIMIT_FSIZE) < bytes)
		return -EFBIG;
	if (space == RLIM_INFINITY || bytes <= SMALL_BYTES)
		return 0;
	used = used_bytes();
	return used > space || bytes > (space - used) / 4 ? -ENOMEM : 0;
}
