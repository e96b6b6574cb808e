/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes packets to a sink: as they are, or in bundles (compressed_packets) that threads deflate in
 * parallel. Bundles are written in the order in which they came; the bytes do not depend on the
 * number of threads.
 */
#ifndef TRACE_CODEC_PERFETTO_BUNDLE_H
#define TRACE_CODEC_PERFETTO_BUNDLE_H

#include <stdint.h>

struct bundles;
struct diag;
struct packets;
struct sink;

#define BUNDLE_BYTES (400u << 10) /* Perfetto requires bundles of less than 512 KB */
#define BUNDLES_MAX_THREADS 16

/*
 * |level| is zlib's, 1 to 9, or 0: packets go into |sink| as they are. |n_threads| 0 means as many
 * as there are processors; each takes some 3 MB. |d|, which may be NULL, gets later errors of
 * bundles; errors of |sink| are in the sink. 0 or -ENOMEM; the caller owns *out.
 */
int bundles_start(
	struct sink *sink, int level, int64_t n_threads, struct diag *d, struct bundles **out);
/* Takes all packets, which must be whole, out of |p|. 0 or a negative errno. */
int bundles_put(struct bundles *b, struct packets *p);
/* Writes all bundles that are left. 0 or a negative errno. */
int bundles_finish(struct bundles *b);
struct bundles *bundles_free(struct bundles *b); /* NULL ok; returns NULL */

#endif
