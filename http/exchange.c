/* SPDX-License-Identifier: Apache-2.0 */
/* A request, from its first line to the end of its answer; see exchange.h. */
#include "http/exchange.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/grow.h"
#include "http/router.h"
#include "http/server_parts.h"

/*
 * The most bytes of an unwanted body that are read and dropped. A client that is still writing
 * would not read the refusal.
 */
#define MAX_DROPPED_BYTES (1 << 20)

static struct http_connection *get_connection(
	const struct http_server *s, struct MHD_Connection *library)
{
	return s->library->get_connection_info(library, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
		->socket_context;
}

#define MAX_REFUSAL_BYTES 512

/* --- Headers of the answer ------------------------------------------------------------------- */

void http_set_header(struct http_exchange *x, const char *name, const char *value)
{
	size_t n_name = strlen(name) + 1;
	char *copy;

	if (x->n_headers == HTTP_MAX_REPLY_HEADERS)
		return;
	copy = malloc(n_name + strlen(value) + 1);
	if (!copy)
		return;
	memcpy(copy, name, n_name);
	strcpy(copy + n_name, value);
	x->headers[x->n_headers++] = (struct reply_header){copy, copy + n_name};
}

static bool exchange_has_header(const struct http_exchange *x, const char *name)
{
	for (size_t i = 0; i < x->n_headers; i++)
		if (strcasecmp(x->headers[i].name, name) == 0)
			return true;
	return false;
}

static void exchange_add_headers(const struct http_exchange *x, struct MHD_Response *response)
{
	const struct http_server *s = x->connection->server;
	const struct http_server_options *o = &s->options;

	for (size_t i = 0; i < x->n_headers; i++)
		s->library->add_response_header(response, x->headers[i].name, x->headers[i].value);
	for (size_t i = 0; i < o->n_headers; i++)
		if (!exchange_has_header(x, o->headers[i].name))
			s->library->add_response_header(
				response, o->headers[i].name, o->headers[i].value);
}

/* --- Sending --------------------------------------------------------------------------------- */

void http_reply_queue(struct http_exchange *x, unsigned status, struct MHD_Response *response)
{
	struct http_connection *c = x->connection;
	const struct microhttpd *library = c->server->library;
	bool rests = x->is_deferred && !x->is_answered;

	if (response)
		exchange_add_headers(x, response);
	x->is_answered = true;
	if (!response || library->queue_response(c->library, status, response) != MHD_YES)
		http_connection_end(c);
	if (response)
		library->destroy_response(response);
	if (rests)
		http_connection_resume(c);
}

static void exchange_reply(struct http_exchange *x, unsigned status, const char *type, void *bytes,
	size_t n, enum MHD_ResponseMemoryMode mode)
{
	const struct http_server *s = x->connection->server;
	struct MHD_Response *response = s->library->create_response_from_buffer(n, bytes, mode);

	if (!response && mode == MHD_RESPMEM_MUST_FREE)
		free(bytes);
	if (type)
		http_set_header(x, "Content-Type", type);
	http_connection_enter(x->connection, HTTP_ANSWERING);
	http_reply_queue(x, status, response);
}

void http_reply_bytes(
	struct http_exchange *x, unsigned status, const char *type, const void *bytes, size_t n)
{
	exchange_reply(x, status, type, (void *)bytes, n, MHD_RESPMEM_MUST_COPY);
}

void http_reply_text(struct http_exchange *x, unsigned status, const char *type, const char *text)
{
	http_reply_bytes(x, status, type, text, strlen(text));
}

void http_reply_static(struct http_exchange *x, const char *type, const void *bytes, size_t n)
{
	exchange_reply(x, 200, type, (void *)bytes, n, MHD_RESPMEM_PERSISTENT);
}

void http_reply_taken(
	struct http_exchange *x, unsigned status, const char *type, char *bytes, size_t n)
{
	exchange_reply(x, status, type, bytes, n, MHD_RESPMEM_MUST_FREE);
}

void http_reply_file(struct http_exchange *x, const char *type, int fd, uint64_t offset, uint64_t n)
{
	const struct http_server *s = x->connection->server;
	struct MHD_Response *response =
		s->library->create_response_from_fd_at_offset64(n, fd, offset);

	if (!response)
		close(fd);
	http_set_header(x, "Content-Type", type);
	x->n_file_bytes = n;
	http_connection_enter(x->connection, x->is_head ? HTTP_ANSWERING : HTTP_SENDING);
	http_reply_queue(x, 200, response);
}

/* --- Refusals -------------------------------------------------------------------------------- */

static void exchange_send_refusal(struct http_exchange *x)
{
	const struct http_server_options *o = &x->connection->server->options;
	const char *text = x->refusal ? x->refusal : "refused";
	char line[MAX_REFUSAL_BYTES + 2];

	if (o->refuse) {
		o->refuse(x, x->refused, text, o->context);
		return;
	}
	snprintf(line, sizeof line, "%s\n", text);
	http_reply_text(x, x->refused, "text/plain; charset=utf-8", line);
}

/* Before the request is complete, the refusal is only stored. */
void http_refuse(struct http_exchange *x, unsigned status, const char *format, ...)
{
	char text[MAX_REFUSAL_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	x->refused = status;
	free(x->refusal);
	x->refusal = strdup(text);
	if (x->is_handled)
		exchange_send_refusal(x);
}

/* --- Header of the request ------------------------------------------------------------------- */

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

static void exchange_refuse_url(struct http_exchange *x)
{
	if (x->url_error == -ENAMETOOLONG)
		http_refuse(x, 414,
			"the request's URL is too long, or has too many parts or parameters");
	else
		http_refuse(x, 400, "the request's URL is malformed");
}

static void exchange_refuse_length(struct http_exchange *x)
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

static void exchange_refuse_header(struct http_exchange *x)
{
	http_refuse(x, 431, "the first line and the header have more than %d bytes",
		HTTP_MAX_HEADER_BYTES);
}

static uint64_t get_length(const struct http_exchange *x)
{
	const char *length = http_get_header(x, "Content-Length");

	return length ? strtoull(length, NULL, 10) : 0;
}

static void exchange_begin(struct http_exchange *x, const char *method)
{
	const struct http_server_options *o = &x->connection->server->options;

	x->has_begun = true;
	x->is_head = strcmp(method, "HEAD") == 0;
	x->method = x->is_head ? "GET" : method;
	if (x->url_error)
		exchange_refuse_url(x);
	else if (get_header_bytes(x) > HTTP_MAX_HEADER_BYTES)
		exchange_refuse_header(x);
	else if (o->begin)
		o->begin(x, o->context);
	if (!x->refused && get_length(x) > x->max_body_bytes)
		exchange_refuse_length(x);
	if (x->refused && get_length(x) > MAX_DROPPED_BYTES) {
		x->is_handled = true;
		exchange_send_refusal(x);
	}
}

void http_expect_body(struct http_exchange *x, size_t max_bytes)
{
	x->max_body_bytes = max_bytes;
}

/* --- Body of the request --------------------------------------------------------------------- */

/* Returns 0, or -1 if more than MAX_DROPPED_BYTES were dropped. */
static int exchange_drop_body(struct http_exchange *x, size_t n)
{
	x->n_dropped += n;
	return x->n_dropped > MAX_DROPPED_BYTES ? -1 : 0;
}

static int exchange_append_body(struct http_exchange *x, const char *data, size_t n)
{
	if (!x->refused && n > x->max_body_bytes - x->body_bytes)
		exchange_refuse_length(x);
	if (x->refused)
		return exchange_drop_body(x, n);
	if (grow(&x->body, &x->body_size, x->body_bytes + n + 1))
		return -1;
	memcpy(x->body + x->body_bytes, data, n);
	x->body_bytes += n;
	x->body[x->body_bytes] = '\0';
	return 0;
}

/* --- Handling -------------------------------------------------------------------------------- */

static void exchange_handle(struct http_exchange *x)
{
	const struct http_server_options *o = &x->connection->server->options;

	x->is_handled = true;
	http_connection_enter(x->connection, HTTP_ANSWERING);
	if (x->refused)
		exchange_send_refusal(x);
	else
		o->handle(x, o->context);
	if (!x->is_answered && !x->is_deferred)
		http_refuse(x, 500, "nothing was answered");
}

/*
 * The library calls it with the header, with each piece of a body, at the end, and when a suspended
 * connection is resumed.
 */
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
		exchange_begin(x, method);
		return MHD_YES;
	}
	if (n)
		return exchange_append_body(x, data, n) ? MHD_NO : MHD_YES;
	if (!x->is_handled)
		exchange_handle(x);
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

/* --- End ------------------------------------------------------------------------------------- */

static void exchange_free(struct http_exchange *x)
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
	exchange_free(x);
}

/* --- Getters --------------------------------------------------------------------------------- */

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
