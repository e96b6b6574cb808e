/* SPDX-License-Identifier: Apache-2.0 */
/* Private directories for sockets; see runtime_dir.h. */
#include "base/runtime_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int runtime_dir_get(unsigned i, char *path)
{
	const char *xdg = secure_getenv("XDG_RUNTIME_DIR");
	int n = -1;

	switch (i) {
	case 0:
		if (xdg && xdg[0] == '/')
			n = snprintf(path, RUNTIME_DIR_MAX_BYTES, "%s/proftap", xdg);
		break;
	case 1:
		n = snprintf(path, RUNTIME_DIR_MAX_BYTES, "/run/proftap");
		break;
	case 2:
		n = snprintf(path, RUNTIME_DIR_MAX_BYTES, "/run/user/%u/proftap", geteuid());
		break;
	case 3:
		n = snprintf(path, RUNTIME_DIR_MAX_BYTES, "/tmp/proftap-%u", geteuid());
		break;
	}
	return n < 0 || n >= RUNTIME_DIR_MAX_BYTES ? -ENOENT : 0;
}

int runtime_dir_check(const char *path, uid_t owner)
{
	struct stat st;

	if (lstat(path, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if ((st.st_uid != owner && st.st_uid != 0) || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return -EACCES;
	return 0;
}

int runtime_dir_make(const char *path)
{
	if (mkdir(path, 0700) == 0)
		/* This sets the mode whatever the umask is. */
		chmod(path, geteuid() == 0 ? 0755 : 0700);
	else if (errno != EEXIST)
		return -errno;
	return runtime_dir_check(path, geteuid());
}
