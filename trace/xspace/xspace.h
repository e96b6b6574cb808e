/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XSpace, the file and wire format of XProf (tsl/profiler/protobuf/xplane.proto). This is the only
 * place where picoseconds exist: line timestamps are written as 0 and event offsets as picoseconds
 * since the start of the capture.
 *
 * Encoding is by hand into chunks: no heap per event, lengths of planes and lines as padded
 * varints that are patched when the sum is known. Metadata ids are index + 1 (0 means "none" in
 * XSpace), and no stat may be called `group_id`: XProf then believes that the file is grouped
 * already.
 */
#ifndef TRACE_XSPACE_H
#define TRACE_XSPACE_H

#include <stddef.h>
#include <stdint.h>

struct chunks;
struct diag;
struct line;
struct plane;
struct space;
struct trace_event;

/*
 * Appends the encoded |space|, none of whose lines has stored events, to |out|. 0, or -ENOMEM, or -ECANCELED (out->cancel):
 * then |out| is of no use.
 */
int xspace_encode(const struct space *space, struct chunks *out);

/* The place for a line's stored events: behind the first |at| bytes of what was encoded, gaps not counted. */
struct xspace_gap {
	uint64_t at;
	const struct line *line;
};

struct xspace_gaps {
	struct xspace_gap *v; /* in the order of |at| */
	size_t n;
	size_t n_allocated;
	uint64_t n_bytes; /* that go into all of them */
};

/*
 * The same with stored events: everything but them, and where they go. |out| and |gaps| (zero) are empty before.
 */
int xspace_encode_around(const struct space *space, struct chunks *out, struct xspace_gaps *gaps);
void xspace_gaps_deinit(struct xspace_gaps *gaps);

/*
 * Reads an XSpace of any origin (JAX, TensorFlow, ours). Every byte is hostile: a bad one gives
 * -EBADMSG and a text that says at which offset and what was wrong there. -ENOMEM as usual. Epoch
 * or relative line timestamps alike are added to the event offsets; picoseconds are rounded to
 * nanoseconds. Owner: *out belongs to the caller (space_free).
 */
int xspace_decode(const uint8_t *data, size_t n_bytes, struct space **out, struct diag *d);

#endif
