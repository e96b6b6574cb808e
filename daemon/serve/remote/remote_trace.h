/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file without a name into which the trace of another server is written as it comes, and its
 * share of the disk space that several of them use together (disk_share.h).
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

/* All zero but |share| is the empty state. */
struct remote_trace {
	struct disk_share *share; /* borrowed */
	uint64_t taken_bytes; /* of the share */
	struct spool *spool; /* NULL: there is no file yet */
};

/*
 * Makes the file unless it exists, and takes room for |n_bytes| in all. 0, or a negative errno with
 * |d|, a text about "its trace".
 */
int remote_trace_reserve(struct remote_trace *t, uint64_t n_bytes, struct diag *d);
/* Append bytes as spool_append() and spool_append_bytes() do, with |d| as above. */
int remote_trace_append(
	struct remote_trace *t, const struct chunks *bytes, uint64_t *offset_out, struct diag *d);
int remote_trace_append_bytes(
	struct remote_trace *t, const uint8_t *data, size_t n, struct diag *d);
uint64_t remote_trace_get_bytes(const struct remote_trace *t);
/* Gives the room back to the share. Other holders of the file keep it. */
void remote_trace_drop(struct remote_trace *t);

#endif
