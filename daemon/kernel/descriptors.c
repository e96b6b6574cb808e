/* SPDX-License-Identifier: Apache-2.0 */
/* Who may have how many descriptors; see descriptors.h. The kernel gives the lowest number that is free. */
#include "daemon/kernel/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

/* What the others keep: so many, or such a part of a low limit. */
static const struct {
	rlim_t n;
	rlim_t part;
} reserves[] = {
	[DESCRIPTORS_OF_CONNECTIONS] = {24, 4},
	[DESCRIPTORS_OF_CHILDREN] = {128, 2},
};

/* The first number that is not for |use|. */
static rlim_t find_bound(enum descriptors_use use)
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
	if (fd < 0 || (rlim_t)fd < find_bound(use))
		return fd;
	close(fd);
	errno = EMFILE;
	return -1;
}

int descriptors_are_left(unsigned n, enum descriptors_use use)
{
	int next = fcntl(0, F_DUPFD_CLOEXEC, 0);

	if (next < 0)
		return 0;
	close(next);
	return (rlim_t)next + n <= find_bound(use);
}
