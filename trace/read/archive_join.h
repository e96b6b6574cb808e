/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the files of one recording together, so that whoever reads them sees one process, each thread once, and losses once:
 *
 *	the parts of a capture that was split    as their marks say, whatever the files are called
 *	several looks at one process             of the same host, pid and start: snapshots of a session or a recorder, and
 *	                                         captures beside them; what two files have comes once (cursor.h)
 *
 * Files that say neither, such as those of other profilers, stay apart.
 */
#ifndef TRACE_READ_ARCHIVE_JOIN_H
#define TRACE_READ_ARCHIVE_JOIN_H

#include <stddef.h>

struct archive;

enum archive_join_what {
	JOIN_PARTS, /* only the parts of one capture: looks at one process are compared, or moved in time by hand */
	JOIN_PROCESSES, /* both */
};

/*
 * Joins archives that belong together into the first of them, which owns the others from then on;
 * the array gets shorter. Parts that are missing are in its warnings. 0, or -ENOMEM: then the
 * archives can only be freed.
 */
int archives_join(struct archive **archives, size_t *n, enum archive_join_what what);

#endif
