/* SPDX-License-Identifier: Apache-2.0 */
/* Answers; see exchange.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "http/server_parts.h"

#define MAX_REFUSAL_BYTES 512

/* --- headers ------------------------------------------------------------------------------- */

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

static bool has_header(const struct http_exchange *x, const char *name)
{
	for (size_t i = 0; i < x->n_headers; i++)
		if (strcasecmp(x->headers[i].name, name) == 0)
			return true;
	return false;
}

static void add_headers(const struct http_exchange *x, struct MHD_Response *response)
{
	const struct http_server *s = x->connection->server;
	const struct http_server_options *o = &s->options;

	for (size_t i = 0; i < x->n_headers; i++)
		s->library->add_response_header(response, x->headers[i].name, x->headers[i].value);
	for (size_t i = 0; i < o->n_headers; i++)
		if (!has_header(x, o->headers[i].name))
			s->library->add_response_header(
				response, o->headers[i].name, o->headers[i].value);
}

/* --- sending ------------------------------------------------------------------------------- */

void http_reply_queue(struct http_exchange *x, unsigned status, struct MHD_Response *response)
{
	struct http_connection *c = x->connection;
	const struct microhttpd *library = c->server->library;
	bool rests = x->is_deferred && !x->is_answered;

	if (response)
		add_headers(x, response);
	x->is_answered = true;
	if (!response || library->queue_response(c->library, status, response) != MHD_YES)
		http_connection_end(c);
	if (response)
		library->destroy_response(response);
	if (rests)
		http_connection_resume(c);
}

static void reply(struct http_exchange *x, unsigned status, const char *type, void *bytes, size_t n,
	enum MHD_ResponseMemoryMode mode)
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
	reply(x, status, type, (void *)bytes, n, MHD_RESPMEM_MUST_COPY);
}

void http_reply_text(struct http_exchange *x, unsigned status, const char *type, const char *text)
{
	http_reply_bytes(x, status, type, text, strlen(text));
}

void http_reply_static(struct http_exchange *x, const char *type, const void *bytes, size_t n)
{
	reply(x, 200, type, (void *)bytes, n, MHD_RESPMEM_PERSISTENT);
}

void http_reply_taken(
	struct http_exchange *x, unsigned status, const char *type, char *bytes, size_t n)
{
	reply(x, status, type, bytes, n, MHD_RESPMEM_MUST_FREE);
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

/* --- refusals ------------------------------------------------------------------------------ */

void http_reply_refusal(struct http_exchange *x)
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

/* Before the whole request is there it is only noted. */
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
		http_reply_refusal(x);
}
