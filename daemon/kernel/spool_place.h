/* SPDX-License-Identifier: Apache-2.0 */
/* Where a spool's file goes: one without a name, in a directory that is on a disk if there is any. */
#ifndef DAEMON_SPOOL_PLACE_H
#define DAEMON_SPOOL_PLACE_H

#include <stdint.h>

/*
 * A file in |dir|, or with NULL in the first of $TMPDIR, /var/tmp and /tmp that can be written to. *place is the directory,
 * or with an error that of the last try; borrowed. Returns a descriptor, the caller's, or a negative errno.
 */
int spool_place_open(const char *dir, const char **place);
/* How many bytes the file |fd| may take: half of what its disk has left, since others need it, too. */
uint64_t spool_place_find_room(int fd);

#endif
