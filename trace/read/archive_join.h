/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins the files of one recording, or of one process, so that readers see one process, each thread
 * once, and losses once:
 *
 *	the parts of a capture that was split    by their marks, whatever the files are called
 *	several recordings of one process        by host, pid and start time: snapshots of a session or a recorder, and
 *	                                         captures beside them; events that are in two files come once (cursor.h)
 *
 * Files without a mark and a start time, such as those of other profilers, stay apart.
 */
#ifndef TRACE_READ_ARCHIVE_JOIN_H
#define TRACE_READ_ARCHIVE_JOIN_H

#include <stddef.h>

struct archive;

enum archive_join_what {
	/* Joins only the parts of one capture; several recordings of one process stay apart */
	JOIN_PARTS,
	JOIN_PROCESSES, /* joins parts and recordings of a process */
};

/*
 * Joins archives that belong together into the first of them, which owns the others from then on;
 * the array gets shorter. The first one's warnings name missing parts. 0, or -ENOMEM: then the
 * archives can only be freed.
 */
int archives_join(struct archive **archives, size_t *n, enum archive_join_what what);

#endif
