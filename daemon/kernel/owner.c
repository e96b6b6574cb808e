/* SPDX-License-Identifier: Apache-2.0 */
/* The owner of a process; see owner.h. */
#include "daemon/kernel/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "daemon/kernel/proc_file.h"

#define STATUS_BYTES 1024 /* a part of the file: the ids are in the first lines */

int owner_open(const char *root, pid_t pid)
{
	char path[512];
	char text[STATUS_BYTES];
	int fd;

	snprintf(path, sizeof path, "%s/proc/%d/status", root, (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	proc_file_reread(fd, text, sizeof text);
	return fd;
}

int owner_read_uid(int fd, uid_t *uid)
{
	char text[STATUS_BYTES];
	const char *line;
	unsigned real;
	unsigned effective;
	unsigned saved;
	int r = fd < 0 ? fd : proc_file_reread(fd, text, sizeof text);

	if (r)
		return r;
	/* In this file the kernel escapes line breaks of the process's name. */
	line = strstr(text, "\nUid:");
	if (!line || sscanf(line, " Uid: %u %u %u", &real, &effective, &saved) != 3)
		return -ENOENT;
	*uid = real == effective && real == saved ? real : 0;
	return 0;
}

int owner_find_uid(const char *root, pid_t pid, uid_t *uid)
{
	_cleanup_close_ int fd = owner_open(root, pid);

	return owner_read_uid(fd, uid);
}
