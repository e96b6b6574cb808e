/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disk space that the traces of several other servers may use together, until they are joined
 * or written out.
 *
 * Threads: none inside; one at a time.
 */
#ifndef DAEMON_DISK_SHARE_H
#define DAEMON_DISK_SHARE_H

#include <stddef.h>
#include <stdint.h>

struct diag;
struct spool;

struct disk_share {
	uint64_t max_bytes; /* limit of all traces together; set by the caller */
	/* the name of this limit for people: "what ...", and advice; NULL: max_capture_bytes */
	const char *whose;
	/*
	 * the directory of the runs, so that files which are written there can be linked. NULL:
	 * none
	 */
	const char *dir;
	uint64_t used_bytes;
	/* max_bytes is half of the free disk space at the time of the first spool */
	int is_of_disk;
	int is_measured;
};

/*
 * Opens a spool. Take its bytes from the share before you write them. Owner: *out has one holder,
 * the caller. Results as of spool_new().
 */
int disk_share_open(struct disk_share *s, struct spool **out, struct diag *d);

/* Lowers the limit to |max_bytes|, but not below the bytes that are taken already. */
void disk_share_lower(struct disk_share *s, uint64_t max_bytes);

/* Takes |n| bytes. 0; or -ENOBUFS with |d|, which names the limit and its reason. */
int disk_share_take(struct disk_share *s, uint64_t n, struct diag *d);
void disk_share_give_back(struct disk_share *s, uint64_t n);

#endif
