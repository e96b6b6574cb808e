/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets in the file system; see socket_file.h. */
#include "daemon/socket_file.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static ino_t get_inode(const char *path)
{
	struct stat st;

	return lstat(path, &st) ? 0 : st.st_ino;
}

void socket_file_note(struct socket_file *f)
{
	f->inode = get_inode(f->path);
}

void socket_file_find(struct socket_file *f, int listener)
{
	struct sockaddr_un address = {.sun_family = AF_UNSPEC};
	socklen_t n = sizeof address;

	f->path[0] = '\0';
	if (getsockname(listener, (struct sockaddr *)&address, &n) || address.sun_family != AF_UNIX)
		return;
	snprintf(f->path, sizeof f->path, "%.*s", (int)sizeof address.sun_path, address.sun_path);
	socket_file_note(f);
}

void socket_file_remove(struct socket_file *f)
{
	if (f->inode && get_inode(f->path) == f->inode)
		unlink(f->path);
	f->inode = 0;
}
