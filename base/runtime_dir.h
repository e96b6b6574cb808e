/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directories of a user's private sockets: $XDG_RUNTIME_DIR/proftap, /run/proftap,
 * /run/user/UID/proftap, or /tmp/proftap-UID. Servers make their sockets in the first one that they
 * can use, and clients search all of them. Safe in a guest.
 */
#ifndef BASE_RUNTIME_DIR_H
#define BASE_RUNTIME_DIR_H

#include <sys/types.h>

#define RUNTIME_DIR_MAX_BYTES 96 /* a path that fits into a socket's address with a file name */
#define RUNTIME_DIR_PLACES 4
/* The host daemon's socket in one of the directories (docs/internals/host.md); SOCK_SEQPACKET. */
#define RUNTIME_DIR_REGISTRY "registry.sock"

/*
 * Writes the |i|th directory of the calling process, from 0, into |path| (RUNTIME_DIR_MAX_BYTES).
 * 0, or -ENOENT when there is none: not set, too long, or |i| too large (then i >=
 * RUNTIME_DIR_PLACES).
 */
int runtime_dir_get(unsigned i, char *path);

/*
 * Makes sure that |path| is a directory that only we and root can write to; its parent must exist.
 * A new directory has the mode 0700, or 0755 if root makes it: programs of root may change to
 * another user, whose clients search that directory. 0 or a negative errno; -EACCES: others can
 * change it.
 */
int runtime_dir_make(const char *path);

/*
 * Checks that |path| is a directory that only |owner| and root can write to. 0 or a negative errno.
 */
int runtime_dir_check(const char *path, uid_t owner);

#endif
