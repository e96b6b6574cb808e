/* SPDX-License-Identifier: Apache-2.0 */
/* Who may connect to a socket in the file system, where the directory may be somebody else's. */
#ifndef SPAWN_SOCKET_MODE_H
#define SPAWN_SOCKET_MODE_H

#include <stdint.h>

/*
 * Gives the socket that this process has just bound to |path| the mode |mode|. What is there is looked at first, and what
 * was looked at is changed: whoever owns the directory can put a link there meanwhile, but not one that leads to another
 * file's mode. Negative errno: -EEXIST when it is not a socket of this user's under one name. Raw system calls only.
 */
long socket_mode_set(const char *path, uint32_t mode);

#endif
