/* SPDX-License-Identifier: Apache-2.0 */
/* A request, from its first line to its end; see exchange.h. */
#include "http/exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "http/router.h"
#include "http/server_parts.h"

/* Of a body that is not wanted so much is read all the same, as a client that is still writing would not read why. */
#define MAX_DROPPED_BYTES (1 << 20)

static struct http_connection *get_connection(
	const struct http_server *s, struct MHD_Connection *library)
{
	return s->library->get_connection_info(library, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
		->socket_context;
}

/* --- its beginning ------------------------------------------------------------------------- */

void *http_exchange_open(void *server, const char *url, struct MHD_Connection *library)
{
	struct http_server *s = server;
	struct http_connection *c = get_connection(s, library);
	struct http_exchange *x = c ? calloc(1, sizeof *x) : NULL;

	if (!x)
		return NULL;
	x->connection = c;
	x->url_error = http_url_parse(&x->url, url);
	c->exchange = x;
	s->counts.n_requests++;
	return x;
}

static void refuse_url(struct http_exchange *x)
{
	if (x->url_error == -ENAMETOOLONG)
		http_refuse(x, 414, "what is asked for is too long, or has too many parts");
	else
		http_refuse(x, 400, "what is asked for is no path");
}

static void refuse_length(struct http_exchange *x)
{
	http_refuse(x, 413, "the body has more than %zu bytes", x->max_body_bytes);
}

static size_t get_header_bytes(const struct http_exchange *x)
{
	const struct http_connection *c = x->connection;
	const union MHD_ConnectionInfo *info = c->server->library->get_connection_info(
		c->library, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

	return info ? info->header_size : 0;
}

static void refuse_header(struct http_exchange *x)
{
	http_refuse(x, 431, "the first line and the header have more than %d bytes",
		HTTP_MAX_HEADER_BYTES);
}

static uint64_t get_length(const struct http_exchange *x)
{
	const char *length = http_get_header(x, "Content-Length");

	return length ? strtoull(length, NULL, 10) : 0;
}

static void begin(struct http_exchange *x, const char *method)
{
	const struct http_server_options *o = &x->connection->server->options;

	x->has_begun = true;
	x->is_head = strcmp(method, "HEAD") == 0;
	x->method = x->is_head ? "GET" : method;
	if (x->url_error)
		refuse_url(x);
	else if (get_header_bytes(x) > HTTP_MAX_HEADER_BYTES)
		refuse_header(x);
	else if (o->begin)
		o->begin(x, o->context);
	if (!x->refused && get_length(x) > x->max_body_bytes)
		refuse_length(x);
	if (x->refused && get_length(x) > MAX_DROPPED_BYTES) {
		x->is_handled = true;
		http_reply_refusal(x);
	}
}

void http_expect_body(struct http_exchange *x, size_t max_bytes)
{
	x->max_body_bytes = max_bytes;
}

/* --- its body ------------------------------------------------------------------------------ */

/* 0, or -1: it is not worth reading on. */
static int drop(struct http_exchange *x, size_t n)
{
	x->n_dropped += n;
	return x->n_dropped > MAX_DROPPED_BYTES ? -1 : 0;
}

static int append(struct http_exchange *x, const char *data, size_t n)
{
	if (!x->refused && n > x->max_body_bytes - x->body_bytes)
		refuse_length(x);
	if (x->refused)
		return drop(x, n);
	if (grow(&x->body, &x->body_size, x->body_bytes + n + 1))
		return -1;
	memcpy(x->body + x->body_bytes, data, n);
	x->body_bytes += n;
	x->body[x->body_bytes] = '\0';
	return 0;
}

/* --- its handling -------------------------------------------------------------------------- */

static void handle(struct http_exchange *x)
{
	const struct http_server_options *o = &x->connection->server->options;

	x->is_handled = true;
	http_connection_enter(x->connection, HTTP_ANSWERING);
	if (x->refused)
		http_reply_refusal(x);
	else
		o->handle(x, o->context);
	if (!x->is_answered && !x->is_deferred)
		http_refuse(x, 500, "nothing was answered");
}

/* Called with the header, with each piece of a body, at the end, and when one that rested is woken. */
enum MHD_Result http_exchange_run(void *server, struct MHD_Connection *library, const char *url,
	const char *method, const char *version, const char *data, size_t *n_data, void **context)
{
	struct http_server *s = server;
	struct http_exchange *x = *context;
	size_t n = *n_data;

	(void)url;
	(void)version;
	if (!x || x->connection->is_over)
		return MHD_NO;
	*n_data = 0;
	if (!x->has_begun) {
		begin(x, method);
		return MHD_YES;
	}
	if (n)
		return append(x, data, n) ? MHD_NO : MHD_YES;
	if (!x->is_handled)
		handle(x);
	if (x->is_deferred && !x->is_answered)
		s->library->suspend_connection(library);
	return MHD_YES;
}

void http_defer(struct http_exchange *x, void (*gone)(void *work), void *work)
{
	x->is_deferred = true;
	x->gone = gone;
	x->work = work;
}

void http_exchange_wake(struct http_exchange *x)
{
	if (x->stream)
		http_stream_wake(x->stream);
	else if (x->is_deferred && !x->is_answered)
		http_connection_resume(x->connection);
}

/* --- its end ------------------------------------------------------------------------------- */

static void free_exchange(struct http_exchange *x)
{
	for (size_t i = 0; i < x->n_headers; i++)
		free(x->headers[i].name);
	free(x->refusal);
	free(x->body);
	free(x);
}

void http_exchange_close(void *server, struct MHD_Connection *library, void **context,
	enum MHD_RequestTerminationCode how)
{
	struct http_exchange *x = *context;
	struct http_connection *c;

	(void)server;
	(void)library;
	*context = NULL;
	if (!x)
		return;
	c = x->connection;
	c->exchange = NULL;
	http_connection_enter(
		c, how == MHD_REQUEST_TERMINATED_COMPLETED_OK && c->state == HTTP_SENDING
			   ? HTTP_DELIVERING
			   : HTTP_WAITING);
	if (x->stream)
		http_stream_close(x->stream);
	else if (x->is_deferred && !x->is_answered)
		x->gone(x->work);
	free_exchange(x);
}

/* --- what it says -------------------------------------------------------------------------- */

const char *http_get_method(const struct http_exchange *x)
{
	return x->method;
}

const char *http_get_path(const struct http_exchange *x)
{
	return x->url.path;
}

const char *http_get_query(const struct http_exchange *x, const char *key)
{
	return http_url_find(&x->url, key);
}

const char *http_get_header(const struct http_exchange *x, const char *name)
{
	const struct http_connection *c = x->connection;

	return c->server->library->lookup_connection_value(c->library, MHD_HEADER_KIND, name);
}

const char *http_get_body(const struct http_exchange *x, size_t *n)
{
	*n = x->body_bytes;
	return x->body ? x->body : "";
}

const struct http_peer *http_get_peer(const struct http_exchange *x)
{
	return &x->connection->peer;
}
