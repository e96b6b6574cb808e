/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file without a name, into which the trace of another server is written as it arrives. The file
 * uses a part of the disk space that several traces share (disk_share.h).
 *
 * Threads: none inside; one at a time.
 */
#ifndef DAEMON_REMOTE_TRACE_H
#define DAEMON_REMOTE_TRACE_H

#include <stddef.h>
#include <stdint.h>

struct chunks;
struct diag;
struct disk_share;
struct spool;

/* Zero, except for |share|, is the empty state. */
struct remote_trace {
	struct disk_share *share; /* borrowed */
	uint64_t taken_bytes; /* of the share */
	struct spool *spool; /* NULL: there is no file yet */
};

/*
 * Makes the file unless it exists, and takes room for |n_bytes| in total. 0, or a negative errno
 * with |d|, whose text calls it "its trace".
 */
int remote_trace_reserve(struct remote_trace *t, uint64_t n_bytes, struct diag *d);
/* Append bytes like spool_append() and spool_append_bytes(), with |d| as above. */
int remote_trace_append(
	struct remote_trace *t, const struct chunks *bytes, uint64_t *offset_out, struct diag *d);
int remote_trace_append_bytes(
	struct remote_trace *t, const uint8_t *data, size_t n, struct diag *d);
uint64_t remote_trace_get_bytes(const struct remote_trace *t);
/* Returns the room to the share. The file stays as long as it has other holders. */
void remote_trace_drop(struct remote_trace *t);

#endif
