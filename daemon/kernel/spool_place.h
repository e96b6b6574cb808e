/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creates the file of a spool. The file has no name, and is in a directory on a disk if possible.
 */
#ifndef DAEMON_SPOOL_PLACE_H
#define DAEMON_SPOOL_PLACE_H

#include <stdint.h>

/*
 * Creates a file in |dir|, or, if that is NULL, in the first writable one of $TMPDIR, /var/tmp and
 * /tmp: first among those on a disk, then among those in memory. *place (borrowed) is that
 * directory, or after an error the last one that was tried. Returns a descriptor, owned by the
 * caller, or a negative errno.
 */
int spool_place_open(const char *dir, const char **place);
/*
 * Creates a file without a name in |dir|, to which linkat() can give a name later. Returns a
 * descriptor, or a negative errno: not every file system can do that.
 */
int spool_place_open_linkable(const char *dir);
/*
 * Returns the limit of the file |fd|: half of the free space of its disk, since others need space,
 * too.
 */
uint64_t spool_place_find_room(int fd);

#endif
