/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A listener in the file system. A living server never loses its path to another one; a dead
 * server's path is taken over. Raw system calls only.
 */
#ifndef SPAWN_SOCKET_FILE_H
#define SPAWN_SOCKET_FILE_H

#include <stdint.h>

struct spawn;

/*
 * Binds s->listener to s->address, an absolute path, with the mode s->socket_mode. It replaces the
 * socket of a dead server of the same user. Negative errno: -EADDRINUSE when somebody listens
 * there, -EEXIST when it is no socket, or another user's.
 */
long socket_file_bind(struct spawn *s);

/*
 * Gives the socket that this process has just bound to |path| the mode |mode|. It checks the file
 * first, and changes the very file that it has checked. So a link that the owner of the directory
 * puts there meanwhile cannot change another file's mode. Negative errno: -EEXIST when the file is
 * not a socket of this user with one hard link.
 */
long socket_file_set_mode(const char *path, uint32_t mode);

#endif
