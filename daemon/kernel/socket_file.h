/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path of a socket that this server listens on. The file is removed at the server's end, unless
 * a later server has replaced it.
 */
#ifndef DAEMON_SOCKET_FILE_H
#define DAEMON_SOCKET_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct socket_file {
	/*
	 * sun_path; "": none. It is unchanged when the file is removed, so any thread may
	 * read it
	 */
	char path[108];
	_Atomic ino_t inode; /* 0: there is nothing to remove */
};

/* Remembers the file, after the socket was bound. */
void socket_file_note(struct socket_file *f);
/* The same for the path to which |listener| is bound; no path if that is no unix socket. */
void socket_file_find(struct socket_file *f, int listener);
/* Takes only the path of |listener|, whose file belongs to somebody else and is never removed. */
void socket_file_find_foreign(struct socket_file *f, int listener);
/* Returns true if the file still exists, and belongs to this server. Any thread may call it. */
bool socket_file_is_there(const struct socket_file *f);
/* Removes the file. A second call does nothing. */
void socket_file_remove(struct socket_file *f);

#endif
