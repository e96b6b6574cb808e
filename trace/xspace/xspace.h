/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XSpace, the file and wire format of XProf (tsl/profiler/protobuf/xplane.proto). Only this folder
 * knows picoseconds: line timestamps are written as 0, and event offsets as picoseconds since the
 * start of the capture.
 *
 * The encoder is written by hand and appends to chunks: it allocates nothing per event, and the
 * lengths of planes and lines are padded varints that are patched at their end. Metadata ids are
 * index + 1 (0 means "none" in XSpace). No stat may be called `group_id`: XProf would believe that
 * the file is grouped already.
 */
#ifndef TRACE_XSPACE_H
#define TRACE_XSPACE_H

#include <stddef.h>
#include <stdint.h>

struct chunks;
struct line;
struct space;

/*
 * Appends the encoded |space|, none of whose lines has stored events, to |out|. 0, or -ENOMEM, or
 * -ECANCELED (out->cancel); after an error |out| is garbage.
 */
int xspace_encode(const struct space *space, struct chunks *out);

/*
 * The place for a line's stored events: behind the first |at| bytes of the output; |at| does not
 * count gaps.
 */
struct xspace_gap {
	uint64_t at;
	const struct line *line;
};

struct xspace_gaps {
	struct xspace_gap *v; /* in the order of |at| */
	size_t n;
	size_t n_allocated;
	uint64_t n_bytes; /* stored bytes that fill all gaps */
};

/*
 * Encodes everything but stored events, and lists their places in |gaps|. |out| and |gaps| are
 * empty before.
 */
int xspace_encode_around(const struct space *space, struct chunks *out, struct xspace_gaps *gaps);
void xspace_gaps_deinit(struct xspace_gaps *gaps);

#endif
