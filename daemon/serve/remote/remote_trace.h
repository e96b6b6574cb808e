/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file without a name, into which the trace of another server is written as it arrives. The file
 * uses a part of the disk space that several traces share.
 *
 * Threads: starts none; only one thread at a time may use an object.
 */
#ifndef DAEMON_REMOTE_TRACE_H
#define DAEMON_REMOTE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chunks;
struct diag;
struct spool;

/*
 * The disk space that the traces of several other servers may use together, until they are joined
 * or written out.
 */
struct disk_share {
	uint64_t max_bytes; /* limit of all traces together; set by the caller */
	/*
	 * the end of the error's text: what this limit is, and advice; NULL: it is
	 * max_capture_bytes
	 */
	const char *whose;
	/*
	 * the directory of the runs, so that files which are written there can be linked. NULL:
	 * none
	 */
	const char *dir;
	uint64_t used_bytes;
	/* max_bytes is half of the free disk space at the time of the first spool */
	bool is_of_disk;
	bool is_measured;
};

/*
 * Opens a spool. Take its bytes from the share before you write them. Owner: *out has one holder,
 * the caller. The results are those of spool_new().
 */
int disk_share_open(struct disk_share *s, struct spool **out, struct diag *d);

/* Lowers the limit to |max_bytes|, but not below the bytes that are taken already. */
void disk_share_lower(struct disk_share *s, uint64_t max_bytes);

/* Takes |n| bytes. 0; or -ENOBUFS with |d|, which names the limit and its reason. */
int disk_share_take(struct disk_share *s, uint64_t n, struct diag *d);
void disk_share_give_back(struct disk_share *s, uint64_t n);

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
