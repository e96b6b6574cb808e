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
	uint64_t max_bytes; /* of all; given by the caller */
	/* limit |max_bytes| is, for people: "what ...", and what to do; NULL: max_capture_bytes */
	const char *whose;
	/* the runs' place: files that are written out there can be linked. NULL: none */
	const char *dir;
	uint64_t used_bytes;
	/* max_bytes is half of what the disk had left when the first spool was made */
	int is_of_disk;
	int is_measured;
};

/*
 * A spool, of which bytes are taken before they are written. Owner: *out has one holder, the
 * caller. As spool_new().
 */
int disk_share_open(struct disk_share *s, struct spool **out, struct diag *d);

/* Lowers the limit to |max_bytes|, as of |whose|, but not below the bytes that are taken. */
void disk_share_lower(struct disk_share *s, uint64_t max_bytes);

/* Takes |n| bytes: 0, or -ENOBUFS with |d|, which says how many all may have, and why. */
int disk_share_take(struct disk_share *s, uint64_t n, struct diag *d);
void disk_share_give_back(struct disk_share *s, uint64_t n);

#endif
