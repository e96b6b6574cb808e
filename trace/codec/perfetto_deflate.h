/* SPDX-License-Identifier: Apache-2.0 */
/* Packets compressed, as a packet of their own holds them. */
#ifndef TRACE_CODEC_PERFETTO_DEFLATE_H
#define TRACE_CODEC_PERFETTO_DEFLATE_H

#include <zlib.h>

struct packets;

/*
 * |out| has what |z|, which is reset before, makes of |p|, and nothing else.
 * Errors: -EFBIG beyond 4 GB, -ENOMEM, -EIO.
 */
int packets_deflate(const struct packets *p, z_stream *z, struct packets *out);

#endif
