/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides the descriptors; see descriptors.h. The kernel always gives the lowest free number, so a
 * high number means that few are left.
 */
#include "daemon/kernel/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

/* Descriptors that are kept free for other uses: |n|, or 1/|part| of the limit if that is less. */
static const struct {
	rlim_t n;
	rlim_t part;
} reserves[] = {
	[DESCRIPTORS_OF_CONNECTIONS] = {24, 4},
	[DESCRIPTORS_OF_CHILDREN] = {128, 2},
};

/* Returns the lowest descriptor number that |use| may not have. */
static rlim_t descriptors_find_bound(enum descriptors_use use)
{
	struct rlimit limit;
	rlim_t part;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return RLIM_INFINITY;
	part = limit.rlim_cur / reserves[use].part;
	return limit.rlim_cur - (part < reserves[use].n ? part : reserves[use].n);
}

int descriptors_keep(int fd, enum descriptors_use use)
{
	if (fd < 0 || (rlim_t)fd < descriptors_find_bound(use))
		return fd;
	close(fd);
	errno = EMFILE;
	return -1;
}

bool descriptors_are_left(unsigned n, enum descriptors_use use)
{
	int next = fcntl(0, F_DUPFD_CLOEXEC, 0);

	if (next < 0)
		return false;
	close(next);
	return (rlim_t)next + n <= descriptors_find_bound(use);
}
