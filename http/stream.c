/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers without an end; see exchange.h. The library asks for bytes, and its connection is
 * suspended while there are none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/grow.h"
#include "http/server_parts.h"

/* The kernel's send buffer; the bytes that it holds count as taken. */
#define SEND_BUFFER_BYTES (64 << 10)

struct http_stream {
	struct http_exchange *exchange;
	char *bytes; /* the waiting bytes; malloc'ed */
	size_t first; /* offset of the first waiting byte */
	size_t end;
	size_t size; /* allocated */
	size_t max_bytes;
	uint64_t n_taken; /* bytes taken in all */
	uint64_t mark; /* |n_taken| must reach this by the deadline */
	int64_t deadline_ms; /* INT64_MAX: nothing waits */
	bool rests; /* the connection is suspended */
	bool is_finished;
	void (*ended)(void *context);
	void *context;
};

static size_t stream_count_waiting(const struct http_stream *s)
{
	return s->end - s->first;
}

/*
 * Sets the deadline for all bytes that wait now. When the peer has taken the last of them, this is
 * called again for the bytes that wait then.
 */
static void stream_set_deadline(struct http_stream *s)
{
	s->mark = s->n_taken + stream_count_waiting(s);
	s->deadline_ms = stream_count_waiting(s) ? http_now_ms() + HTTP_STREAM_MS : INT64_MAX;
}

int64_t http_stream_get_deadline_ms(const struct http_stream *s)
{
	return s->deadline_ms;
}

static size_t stream_take(struct http_stream *s, char *to, size_t max)
{
	size_t n = stream_count_waiting(s) < max ? stream_count_waiting(s) : max;

	memcpy(to, s->bytes + s->first, n);
	s->first += n;
	s->n_taken += n;
	if (s->n_taken >= s->mark)
		stream_set_deadline(s);
	return n;
}

/* The library's callback that asks for bytes. */
static ssize_t stream_on_read(void *stream, uint64_t position, char *to, size_t max)
{
	struct http_stream *s = stream;
	struct http_connection *c = s->exchange->connection;

	(void)position;
	if (c->is_over)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (stream_count_waiting(s))
		return (ssize_t)stream_take(s, to, max);
	if (s->is_finished)
		return MHD_CONTENT_READER_END_OF_STREAM;
	s->rests = true;
	c->server->library->suspend_connection(c->library);
	return 0;
}

static struct http_stream *stream_new(struct http_exchange *x, size_t max_bytes)
{
	struct http_stream *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->exchange = x;
	s->max_bytes = max_bytes;
	s->deadline_ms = INT64_MAX;
	return s;
}

struct http_stream *http_reply_stream(struct http_exchange *x, const char *type, size_t max_bytes,
	void (*ended)(void *context), void *context)
{
	const struct microhttpd *library = x->connection->server->library;
	struct http_stream *s = stream_new(x, max_bytes);
	struct MHD_Response *response = s ? library->create_response_from_callback(
						    MHD_SIZE_UNKNOWN, 4096, stream_on_read, s, NULL)
					  : NULL;
	int bytes = SEND_BUFFER_BYTES;

	if (!response) {
		free(s);
		http_reply_queue(x, 500, NULL);
		return NULL;
	}
	s->ended = ended;
	s->context = context;
	setsockopt(x->connection->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
	http_set_header(x, "Content-Type", type);
	x->stream = s;
	http_connection_enter(x->connection, HTTP_STREAMING);
	http_reply_queue(x, 200, response);
	return s;
}

void http_stream_wake(struct http_stream *s)
{
	if (!s->rests)
		return;
	s->rests = false;
	http_connection_resume(s->exchange->connection);
}

static void stream_compact(struct http_stream *s)
{
	memmove(s->bytes, s->bytes + s->first, stream_count_waiting(s));
	s->end -= s->first;
	s->first = 0;
}

int http_stream_send(struct http_stream *s, const void *bytes, size_t n)
{
	if (s->exchange->connection->is_over || s->is_finished)
		return -EPIPE;
	if (n > s->max_bytes - stream_count_waiting(s))
		return -ENOBUFS;
	if (s->first)
		stream_compact(s);
	if (grow(&s->bytes, &s->size, s->end + n))
		return -ENOBUFS;
	memcpy(s->bytes + s->end, bytes, n);
	s->end += n;
	if (s->deadline_ms == INT64_MAX)
		stream_set_deadline(s);
	http_stream_wake(s);
	return 0;
}

void http_stream_finish(struct http_stream *s)
{
	s->is_finished = true;
	http_stream_wake(s);
}

void http_stream_close(struct http_stream *s)
{
	s->ended(s->context);
	free(s->bytes);
	free(s);
}
