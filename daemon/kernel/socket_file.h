/* SPDX-License-Identifier: Apache-2.0 */
/* The path of a socket that this server listens on, removed at its end unless it is a later server's by then. */
#ifndef DAEMON_SOCKET_FILE_H
#define DAEMON_SOCKET_FILE_H

#include <stdatomic.h>
#include <sys/types.h>

struct socket_file {
	char path
		[108]; /* sun_path; "": none. It stays when the file goes: any thread may read it */
	_Atomic ino_t inode; /* 0: there is nothing to remove */
};

/* It is bound: remembers which file that is. */
void socket_file_note(struct socket_file *f);
/* The same for the path to which |listener| is bound; none if that is no unix socket. */
void socket_file_find(struct socket_file *f, int listener);
/* Of a |listener| of other files than ours: only the path, at which we have nothing to remove. */
void socket_file_find_foreign(struct socket_file *f, int listener);
/* Whether it lies there still, and is no other server's. Any thread. */
int socket_file_is_there(const struct socket_file *f);
/* Again: nothing. */
void socket_file_remove(struct socket_file *f);

#endif
