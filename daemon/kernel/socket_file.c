/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets in the file system; see socket_file.h. */
#include "daemon/kernel/socket_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static ino_t path_get_inode(const char *path)
{
	struct stat st;

	return lstat(path, &st) ? 0 : st.st_ino;
}

void socket_file_note(struct socket_file *f)
{
	atomic_store(&f->inode, path_get_inode(f->path));
}

void socket_file_find_foreign(struct socket_file *f, int listener)
{
	struct sockaddr_un address = {.sun_family = AF_UNSPEC};
	socklen_t n = sizeof address;

	f->path[0] = '\0';
	if (getsockname(listener, (struct sockaddr *)&address, &n) || address.sun_family != AF_UNIX)
		return;
	snprintf(f->path, sizeof f->path, "%.*s", (int)sizeof address.sun_path, address.sun_path);
}

void socket_file_find(struct socket_file *f, int listener)
{
	socket_file_find_foreign(f, listener);
	if (f->path[0])
		socket_file_note(f);
}

bool socket_file_is_there(const struct socket_file *f)
{
	ino_t inode = atomic_load(&f->inode);

	return inode && path_get_inode(f->path) == inode;
}

void socket_file_remove(struct socket_file *f)
{
	if (socket_file_is_there(f))
		unlink(f->path);
	atomic_store(&f->inode, 0);
}
