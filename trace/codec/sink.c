/* SPDX-License-Identifier: Apache-2.0 */
/* Sinks; see sink.h. */
#include "trace/codec/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/file_io.h"
#include "base/grow.h"

struct sink_deflater {
	z_stream stream;
	uint8_t out[SINK_BYTES];
};

#define GZIP_WINDOW (15 + 16) /* of deflateInit2(): 32 KiB, and gzip's frame */

static int start_gzip(struct sink *s, int level)
{
	s->gzip = calloc(1, sizeof *s->gzip);
	if (!s->gzip)
		return -ENOMEM;
	if (deflateInit2(&s->gzip->stream, level, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) ==
		Z_OK)
		return 0;
	free(s->gzip);
	s->gzip = NULL;
	return -ENOMEM;
}

int sink_init(struct sink *s, int fd, int level)
{
	*s = (struct sink){.fd = fd, .buffer = malloc(SINK_BYTES)};
	if (!s->buffer)
		return -ENOMEM;
	return level ? start_gzip(s, level) : 0;
}

int sink_init_memory(struct sink *s)
{
	int rc = sink_init(s, -1, 0);

	s->is_memory = true;
	return rc;
}

void sink_deinit(struct sink *s)
{
	free(s->kept);
	if (s->gzip)
		deflateEnd(&s->gzip->stream);
	free(s->gzip);
	free(s->buffer);
	*s = (struct sink){.fd = -1};
}

static int keep(struct sink *s, const void *data, size_t n)
{
	if (grow(&s->kept, &s->n_kept_allocated, s->n_kept + n))
		return -ENOMEM;
	memcpy(s->kept + s->n_kept, data, n);
	s->n_kept += n;
	return 0;
}

static void write_out(struct sink *s, const void *data, size_t n)
{
	if (s->error || n == 0)
		return;
	s->error = s->is_memory ? keep(s, data, n) : file_write(s->fd, data, n);
	if (s->error == 0)
		s->n_written += n;
}

static void deflate_out(struct sink *s, const uint8_t *data, size_t n, int how)
{
	z_stream *z = &s->gzip->stream;

	z->next_in = (uint8_t *)(uintptr_t)data;
	z->avail_in = (unsigned int)n;
	do {
		z->next_out = s->gzip->out;
		z->avail_out = SINK_BYTES;
		deflate(z, how);
		write_out(s, s->gzip->out, SINK_BYTES - z->avail_out);
	} while (z->avail_out == 0);
}

void sink_flush(struct sink *s)
{
	if (s->gzip)
		deflate_out(s, s->buffer, s->n_used, Z_NO_FLUSH);
	else
		write_out(s, s->buffer, s->n_used);
	s->n_used = 0;
}

int sink_finish(struct sink *s)
{
	sink_flush(s);
	if (s->gzip)
		deflate_out(s, s->buffer, 0, Z_FINISH);
	return s->error;
}

uint8_t *sink_reserve(struct sink *s, size_t n)
{
	if (SINK_BYTES - s->n_used < n)
		sink_flush(s);
	return s->buffer + s->n_used;
}

void sink_write(struct sink *s, const void *data, size_t n)
{
	const uint8_t *p = data;

	while (n) {
		size_t part = SINK_BYTES - s->n_used < n ? SINK_BYTES - s->n_used : n;

		memcpy(s->buffer + s->n_used, p, part);
		sink_commit(s, part);
		p += part;
		n -= part;
		if (s->n_used == SINK_BYTES)
			sink_flush(s);
	}
}

static ssize_t write_from_stream(void *sink, const char *data, size_t n)
{
	struct sink *s = sink;

	sink_write(s, data, n);
	if (!s->error)
		return (ssize_t)n;
	errno = -s->error;
	return 0;
}

FILE *sink_open_stream(struct sink *s)
{
	return fopencookie(s, "w", (cookie_io_functions_t){.write = write_from_stream});
}

const uint8_t *sink_get_memory(struct sink *s, size_t *n)
{
	if (s->n_kept == 0 && !s->error) {
		*n = s->n_used;
		return s->buffer;
	}
	sink_flush(s);
	*n = s->n_kept;
	return s->error ? NULL : s->kept;
}

void sink_clear_memory(struct sink *s)
{
	s->n_used = 0;
	s->n_kept = 0;
	s->error = 0;
}
