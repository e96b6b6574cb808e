/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a directory for a spool; see spool_place.h. */
#include "daemon/kernel/spool_place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

static bool directory_is_in_memory(const char *dir)
{
	struct statfs fs;

	return statfs(dir, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

/* Some file systems do not support O_TMPFILE. */
static int spool_open_and_unlink(const char *dir)
{
	char path[300];
	int fd;

	if ((size_t)snprintf(path, sizeof path, "%s/.proftapd-XXXXXX", dir) >= sizeof path)
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int spool_open_in(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		fd = spool_open_and_unlink(dir);
	return fd < 0 ? -errno : fd;
}

/* Tries all directories; the error is the last one's. */
static int spool_open_first(const char *const *dirs, size_t n, bool in_memory, const char **dir)
{
	int r = -ENOENT;

	for (size_t i = 0; i < n; i++) {
		if (!dirs[i] || dirs[i][0] != '/' || directory_is_in_memory(dirs[i]) != in_memory)
			continue;
		*dir = dirs[i];
		r = spool_open_in(dirs[i]);
		if (r >= 0)
			return r;
	}
	return r;
}

static int spool_open_anywhere(const char **dir)
{
	const char *const dirs[] = {secure_getenv("TMPDIR"), "/var/tmp", "/tmp"};
	size_t n = sizeof dirs / sizeof dirs[0];
	int fd = spool_open_first(dirs, n, 0, dir);

	return fd >= 0 ? fd : spool_open_first(dirs, n, 1, dir);
}

int spool_place_open(const char *dir, const char **place)
{
	*place = dir ? dir : "/var/tmp";
	return dir ? spool_open_in(dir) : spool_open_anywhere(place);
}

int spool_place_open_linkable(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

uint64_t spool_place_find_room(int fd)
{
	struct statvfs fs;

	return fstatvfs(fd, &fs) ? UINT64_MAX : (uint64_t)fs.f_bavail * fs.f_frsize / 2;
}
