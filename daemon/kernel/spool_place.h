/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the file of a spool: one without a name, in a directory on a disk if there is one. */
#ifndef DAEMON_SPOOL_PLACE_H
#define DAEMON_SPOOL_PLACE_H

#include <stdint.h>

/*
 * Creates a file in |dir|, or, if that is NULL, in the first writable one of $TMPDIR, /var/tmp and
 * /tmp. *place is the directory, on an error that of the last try; borrowed. Returns a descriptor,
 * owned by the caller, or a negative errno.
 */
int spool_place_open(const char *dir, const char **place);
/*
 * A file without a name in |dir| that linkat() can give one. Returns a descriptor, or a negative
 * errno: not every file system can do that.
 */
int spool_place_open_linkable(const char *dir);
/*
 * Returns the limit of the file |fd|: half of the free space of its disk, since others need space,
 * too.
 */
uint64_t spool_place_find_room(int fd);

#endif
