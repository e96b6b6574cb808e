/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modes of sockets; see socket_mode.h. chmod() of a path follows links, fchmod() of a socket does not reach its name, and of
 * a descriptor with O_PATH the kernel takes neither before Linux 6.6; but under /proc it has a path that leads to nothing
 * else.
 */
#include "lib/spawn/socket_mode.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>

#include "lib/spawn/child.h"
#include "lib/spawn/rawsys.h"

/* Of all architectures; Linux 6.6. Asked only where there is no /proc: old sandboxes end who asks. */
#define SYS_FCHMODAT2 452
#define MODE_BITS 07777

/* 0: it can be the one that was bound. */
static SPAWN_RAW long look(long fd, struct statx *st)
{
	long uid = raw0(SYS_geteuid);
	long r = raw5(SYS_statx, fd, "", AT_EMPTY_PATH,
		STATX_TYPE | STATX_MODE | STATX_UID | STATX_NLINK, st);

	if (r < 0)
		return r;
	return (st->stx_mode & S_IFMT) == S_IFSOCK && st->stx_nlink == 1 &&
			       (!uid || st->stx_uid == (uint32_t)uid)
		       ? 0
		       : -EEXIST;
}

static SPAWN_RAW void append_number(char *to, long number)
{
	char digits[24];
	int n = 0;

	do
		digits[n++] = (char)('0' + number % 10);
	while (number /= 10);
	while (n)
		*to++ = digits[--n];
	*to = '\0';
}

static SPAWN_RAW long change(long fd, uint32_t mode)
{
	char path[48] = "/proc/self/fd/";
	long r;

	append_number(path + sizeof "/proc/self/fd/" - 1, fd);
	r = raw3(SYS_fchmodat, AT_FDCWD, path, mode);
	return r == -ENOENT ? raw4(SYS_FCHMODAT2, fd, "", mode, AT_EMPTY_PATH) : r;
}

SPAWN_RAW long socket_mode_set(const char *path, uint32_t mode)
{
	struct statx st;
	long fd = raw4(SYS_openat, AT_FDCWD, path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
	long r = fd < 0 ? fd : look(fd, &st);

	if (r == 0 && (st.stx_mode & MODE_BITS) != mode)
		r = change(fd, mode);
	if (fd >= 0)
		raw1(SYS_close, fd);
	return r;
}
