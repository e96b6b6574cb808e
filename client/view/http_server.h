/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small HTTP server on loopback, for one file: bounded in connections and in the time that a peer may take for anything. It
 * has no thread: the owner waits for its descriptor, and lets it run.
 */
#ifndef CLIENT_HTTP_SERVER_H
#define CLIENT_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diag;
struct http_server;

struct http_request {
	const char *method;
	const char *path; /* without the query, percent signs undone */
	const char *host; /* the header; NULL: none */
};

struct http_header {
	const char *name;
	const char *value;
};

struct http_answer {
	unsigned int status;
	const struct http_header *headers;
	size_t n_headers;
	bool has_file; /* the server's file is the body; else there is none */
};

struct http_server_options {
	uint16_t port; /* of 127.0.0.1 */
	int fd; /* the file; borrowed; may come later, with http_server_set_file() */
	uint64_t n_bytes; /* of it */
	/* What a request is answered; |answer| is zeroed. */
	void (*answer)(
		const struct http_request *request, struct http_answer *answer, void *context);
	void *context;
};

/* More wait until one of them goes. */
#define HTTP_SERVER_MAX_CONNECTIONS 16
/* A request must be there so long after the connection, or after the answer before it. */
#define HTTP_SERVER_REQUEST_MS 5000
/* And its answer taken after this, and as long as the file takes at the slowest speed that is put up with. */
#define HTTP_SERVER_ANSWER_MS 60000
#define HTTP_SERVER_MIN_BYTES_PER_S 65536

/* 0; -EADDRINUSE, or another negative errno, with |d|. */
int http_server_open(
	struct http_server **out, const struct http_server_options *options, struct diag *d);
/* Before it runs for the first time. */
void http_server_set_file(struct http_server *s, int fd, uint64_t n_bytes);
struct http_server *http_server_free(struct http_server *s); /* NULL ok; returns NULL */

/* Readable when there is something to do; and after how long there is in any case, -1: not before. */
int http_server_get_fd(const struct http_server *s);
int64_t http_server_get_timeout_ms(const struct http_server *s);
void http_server_run(struct http_server *s);

/* How often the file went out whole: the peer's kernel has it, or the peer closed behind the last byte. */
unsigned int http_server_get_n_sent(const struct http_server *s);
/* Whether it is on its way to somebody. */
bool http_server_is_sending(const struct http_server *s);

#endif
