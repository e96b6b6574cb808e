/* SPDX-License-Identifier: Apache-2.0 */
/* Compressing packets; see perfetto_deflate.h. */
#include "trace/codec/perfetto_deflate.h"

#include <errno.h>
#include <stdint.h>

#include "trace/codec/perfetto_packet.h"

static int run_zlib(const struct packets *p, z_stream *z, struct packets *out, size_t n_most)
{
	z->next_in = p->data;
	z->avail_in = (unsigned int)p->n_bytes;
	z->next_out = out->data;
	z->avail_out = (unsigned int)n_most;
	if (deflate(z, Z_FINISH) != Z_STREAM_END)
		return -EIO;
	out->n_bytes = z->total_out;
	return 0;
}

/* zlib counts the bytes of a buffer in 32 bits; only one event makes packets of more. */
int packets_deflate(const struct packets *p, z_stream *z, struct packets *out)
{
	uLong n_most = deflateBound(z, p->n_bytes);

	out->n_bytes = 0;
	if (n_most > UINT32_MAX)
		return -EFBIG;
	if (!packets_reserve(out, n_most))
		return -ENOMEM;
	if (deflateReset(z) != Z_OK)
		return -EIO;
	return run_zlib(p, z, out, n_most);
}
