/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the arena's file; see arena_file.h. */
#include "daemon/target/arena_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "lib/wire/arena.h"

#define WANTED_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

uint64_t arena_file_find_size(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct statfs fs;
	struct stat st;

	if (seals < 0 || (seals & WANTED_SEALS) != WANTED_SEALS || fstatfs(fd, &fs) ||
		fs.f_type == HUGETLBFS_MAGIC || fstat(fd, &st) ||
		(uint64_t)st.st_size < arena_size_bytes(1, ARENA_MIN_RING_BYTES))
		return 0;
	return (uint64_t)st.st_size;
}
