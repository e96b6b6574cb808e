/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets on their way to a sink: as they are, or in bundles (compressed_packets) that threads deflate side by side and that
 * are written in the order in which they came. How many threads there are does not show in the bytes.
 */
#ifndef TRACE_CODEC_PERFETTO_BUNDLE_H
#define TRACE_CODEC_PERFETTO_BUNDLE_H

#include <stdint.h>

struct bundles;
struct diag;
struct packets;
struct sink;

#define BUNDLE_BYTES \
	(400u << 10) /* packets of less than 512 KB in a bundle is what Perfetto asks for */
#define BUNDLES_MAX_THREADS 16

/*
 * |level| is zlib's, 1 to 9, or 0: packets go into |sink| as they are. |n_threads| 0: as many as there are processors. Each
 * takes some 3 MB. |d|, which may be NULL, is for what goes wrong with a bundle later; what goes wrong with |sink| says the sink.
 * 0 or -ENOMEM; *out belongs to the caller.
 */
int bundles_start(
	struct sink *sink, int level, int64_t n_threads, struct diag *d, struct bundles **out);
/* Takes the whole packets that |p| has, which is empty then. 0 or a negative errno. */
int bundles_put(struct bundles *b, struct packets *p);
/* Writes what is on its way. 0 or a negative errno. */
int bundles_finish(struct bundles *b);
struct bundles *bundles_free(struct bundles *b); /* NULL ok; returns NULL */

#endif
