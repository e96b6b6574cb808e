/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a user's private sockets lie: $XDG_RUNTIME_DIR/proftap, /run/proftap, /run/user/UID/proftap, or
 * /tmp/proftap-UID; the first that can be used. Servers make their sockets there, clients look in all of them. Safe in a guest.
 */
#ifndef BASE_RUNTIME_DIR_H
#define BASE_RUNTIME_DIR_H

#include <stddef.h>
#include <sys/types.h>

#define RUNTIME_DIR_MAX_BYTES 96 /* with a file name it fits into a socket's address */
#define RUNTIME_DIR_PLACES 4
/* The host daemon's socket in one of them (docs/internals/host.md); SOCK_SEQPACKET. */
#define RUNTIME_DIR_REGISTRY "registry.sock"

/*
 * The |i|th place of the calling process, from 0, into |path| (RUNTIME_DIR_MAX_BYTES). 0, or -ENOENT when there is
 * none: not set, too long, or |i| too large (then i >= RUNTIME_DIR_PLACES).
 */
int runtime_dir_get(unsigned i, char *path);

/*
 * Makes sure that |path| is a directory (0700 if it has to be made, root's 0755: programs of root's may become other
 * users', who look there; its parent must exist) that nobody but us and root can write to. 0 or a negative errno; -EACCES for one that others can change.
 */
int runtime_dir_make(const char *path);

/* Whether |path| is such a directory of |owner| or root: 0 or a negative errno. */
int runtime_dir_check(const char *path, uid_t owner);

#endif
