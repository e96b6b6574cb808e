/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a codec's bytes go: a descriptor, buffered, compressed by zlib if so wanted. Errors are sticky: a codec writes on and
 * looks once in a while, and at the end.
 */
#ifndef TRACE_CODEC_SINK_H
#define TRACE_CODEC_SINK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sink {
	int fd; /* borrowed */
	uint8_t *buffer;
	size_t n_used;
	uint64_t n_bytes; /* that came in so far */
	uint64_t n_written; /* to the descriptor */
	int error; /* 0 or a negative errno */
	struct sink_deflater *gzip; /* NULL: as it is */
	bool is_memory; /* what is flushed stays here */
	uint8_t *kept;
	size_t n_kept;
	size_t n_kept_allocated;
};

#define SINK_BYTES (256u << 10)

#define SINK_GZIP (-1) /* at zlib's default level */

/* |level| of gzip, 1 to 9 or SINK_GZIP; 0: bytes go on as they are. 0 or -ENOMEM. */
int sink_init(struct sink *s, int fd, int level);
/* One whose bytes stay in memory, for a text that is put into another one. 0 or -ENOMEM. */
int sink_init_memory(struct sink *s);
/* All that came into one of those, until the next call with it; or NULL: out of memory. */
const uint8_t *sink_get_memory(struct sink *s, size_t *n);
/* Forgets it. */
void sink_clear_memory(struct sink *s);
/* Writes what is left. 0 or the error. */
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
 * Room for |n| bytes (at most SINK_BYTES) that lie next to each other, for who encodes in place; sink_commit() says how many
 * there are. Never NULL.
 */
uint8_t *sink_reserve(struct sink *s, size_t n);
static inline void sink_commit(struct sink *s, size_t n)
{
	s->n_used += n;
	s->n_bytes += n;
}

/* What is written to the stream comes into the sink, at the latest when the caller closes it. NULL: out of memory. */
FILE *sink_open_stream(struct sink *s);

/* Numbers, quicker than by printf. */
void sink_int(struct sink *s, int64_t value);
void sink_uint(struct sink *s, uint64_t value);
/* Nanoseconds as microseconds with three decimals, e.g. "-12.007". */
void sink_micros(struct sink *s, int64_t ns);
/* The shortest text that reads back as the same number; "nan", "inf", "-inf". */
void sink_double(struct sink *s, double value);

/* The character at |text|, or U+FFFD for a byte that belongs to none. Returns how many of the |n| > 0 bytes it takes. */
size_t sink_character(struct sink *s, const char *text, size_t n);
/* A text, likewise; and how many bytes that writes. */
void sink_utf8(struct sink *s, const char *text, size_t n);
size_t sink_utf8_length(const char *text, size_t n);
/* A JSON string with its quotes; likewise for broken characters. */
void sink_json(struct sink *s, const char *text, size_t n);
/* A field of CSV (RFC 4180): in quotes where that is needed; likewise for broken characters. */
void sink_csv(struct sink *s, const char *text, size_t n);

#endif
