/* SPDX-License-Identifier: Apache-2.0 */
/* A listener in the file system: a path of which a server that lives is never robbed, and one that died is. */
#ifndef SPAWN_SOCKET_FILE_H
#define SPAWN_SOCKET_FILE_H

struct spawn;

/*
 * Binds s->listener to s->address, an absolute path, with the mode s->socket_mode. What a dead server of the same user
 * left there is replaced. Negative errno: -EADDRINUSE when somebody listens there, -EEXIST when it is no socket, or
 * another user's. Raw system calls only.
 */
long socket_file_bind(struct spawn *s);

#endif
