/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink takes a codec's bytes: it buffers them, may compress them with zlib, and writes them to a
 * descriptor. Errors are sticky: a codec goes on writing, and checks |error| now and then.
 */
#ifndef TRACE_CODEC_SINK_H
#define TRACE_CODEC_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sink {
	int fd; /* borrowed */
	uint8_t *buffer;
	size_t n_used;
	uint64_t n_bytes; /* bytes that the codec wrote */
	uint64_t n_written; /* bytes written to the descriptor */
	int error; /* 0 or a negative errno */
	struct sink_deflater *gzip; /* NULL: no compression */
	bool is_memory; /* flushed bytes go to |kept| */
	uint8_t *kept;
	size_t n_kept;
	size_t n_kept_allocated;
};

#define SINK_BYTES (256u << 10)

#define SINK_GZIP (-1) /* zlib's default level */

/* |level| is gzip's, 1 to 9 or SINK_GZIP; 0: no compression. 0 or -ENOMEM. */
int sink_init(struct sink *s, int fd, int level);
/*
 * Makes a sink whose bytes stay in memory, for a text that becomes a part of another one. 0 or
 * -ENOMEM.
 */
int sink_init_memory(struct sink *s);
/* Returns all bytes of a memory sink, valid until the next call for that sink; NULL: no memory. */
const uint8_t *sink_get_memory(struct sink *s, size_t *n);
/* Removes all bytes of a memory sink. */
void sink_clear_memory(struct sink *s);
/* Writes all buffered bytes. 0 or the error. */
int sink_finish(struct sink *s);
void sink_deinit(struct sink *s);

void sink_write(struct sink *s, const void *data, size_t n);
void sink_flush(struct sink *s);
static inline void sink_put(struct sink *s, char c)
{
	if (s->n_used == SINK_BYTES)
		sink_flush(s);
	s->buffer[s->n_used++] = (uint8_t)c;
	s->n_bytes++;
}
void sink_text(struct sink *s, const char *text);
void sink_printf(struct sink *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Returns room for |n| contiguous bytes (at most SINK_BYTES), for encoders that write in place;
 * the caller passes the number of written ones to sink_commit(). Never NULL.
 */
uint8_t *sink_reserve(struct sink *s, size_t n);
static inline void sink_commit(struct sink *s, size_t n)
{
	s->n_used += n;
	s->n_bytes += n;
}

/*
 * Opens a buffered stream to the sink. The sink has all bytes at the latest when the caller closes
 * the stream. NULL: out of memory.
 */
FILE *sink_open_stream(struct sink *s);

/* These write numbers, faster than printf. */
void sink_int(struct sink *s, int64_t value);
void sink_uint(struct sink *s, uint64_t value);
/* Writes nanoseconds as microseconds with three decimals, such as "-12.007". */
void sink_micros(struct sink *s, int64_t ns);
/* Writes the shortest text that reads back as the same number; "nan", "inf", "-inf". */
void sink_double(struct sink *s, double value);

/*
 * All texts below are written as valid UTF-8: a byte that belongs to no character becomes U+FFFD.
 */

/* Writes the character at |text|. Returns the character's length, at most |n| (> 0) bytes. */
size_t sink_character(struct sink *s, const char *text, size_t n);
void sink_utf8(struct sink *s, const char *text, size_t n);
/* Returns the number of bytes that sink_utf8() would write. */
size_t sink_utf8_length(const char *text, size_t n);
/* Writes a JSON string with its quotes. */
void sink_json(struct sink *s, const char *text, size_t n);
/* Writes a field of CSV (RFC 4180), in quotes if it needs them. */
void sink_csv(struct sink *s, const char *text, size_t n);

#endif
