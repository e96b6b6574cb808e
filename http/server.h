/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP server: libmicrohttpd, bounded in connections and in the time that a peer may take for anything. It has no thread: the owner
 * waits for its descriptor, and lets it run.
 *
 * Each request of a connection has an absolute deadline: bytes that trickle do not renew it. When there is no room for a connection
 * the oldest goes whose request is not there yet; so who says nothing, or a letter a second, keeps nobody out.
 */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/exchange.h"

struct diag;
struct http_server;

struct http_header {
	const char *name;
	const char *value;
};

struct http_server_options {
	int listener; /* listening, non-blocking; taken, also when http_server_open() fails */
	unsigned max_connections;
	unsigned max_of_user; /* of these, by http_peer.uid */
	/* Who that is, at accept; false: hung up on. NULL: everybody comes in, as uid 0. */
	bool (*enter)(int fd, struct http_peer *peer, void *context);
	/*
	 * When the header is there: may refuse (http_refuse()), and says how much body is wanted (http_expect_body()). What is refused
	 * is answered when the body was read, and thrown away. NULL: no body is wanted.
	 */
	void (*begin)(struct http_exchange *x, void *context);
	void (*handle)(struct http_exchange *x, void *context); /* see http/exchange.h */
	/* Answers by http_reply_text() or so. NULL: |text| and a line break. */
	void (*refuse)(struct http_exchange *x, unsigned status, const char *text, void *context);
	const struct http_header *headers; /* of every answer that does not set them itself */
	size_t n_headers;
	/* Ends the sentence that says that libmicrohttpd is not installed: what can be done without it. NULL: nothing. */
	const char *otherwise;
	void *context;
};

/* A request must be there whole so long after the connection, or after the answer before it. */
#define HTTP_REQUEST_MS 5000
/* And its answer given and taken after this, and as long as its length takes at the slowest speed that is put up with. */
#define HTTP_ANSWER_MS 60000
#define HTTP_MIN_BYTES_PER_S 65536
/* What waits in a stream must be taken so long after it was sent. */
#define HTTP_STREAM_MS 20000
/*
 * Of a request, its first line and header together; what is asked for: http/url.h. Of more it is refused like any other, as long as
 * libmicrohttpd has room for it: then, and when what comes is no HTTP, it answers by itself, and closes (docs/internals/host.md).
 */
#define HTTP_MAX_HEADER_BYTES 16384

/* 0; -ENOSYS: libmicrohttpd is not installed; or another negative errno, with |d|. */
int http_server_open(
	struct http_server **out, const struct http_server_options *options, struct diag *d);
/* Whatever is under way ends. */
struct http_server *http_server_free(struct http_server *s); /* NULL ok; returns NULL */

/* Nobody comes in any more; those that are served stay. Again: nothing. */
void http_server_stop_listening(struct http_server *s);

/* Readable when there is something to do; and after how long there is in any case, -1: not before. */
int http_server_get_fd(const struct http_server *s);
int64_t http_server_get_timeout_ms(const struct http_server *s);
void http_server_run(struct http_server *s);

/* In http_server_options.begin: a body of |max_bytes| at most; a longer one is refused. */
void http_expect_body(struct http_exchange *x, size_t max_bytes);

struct http_counts {
	unsigned n_connections; /* open now */
	uint64_t n_accepted;
	uint64_t n_refused; /* by enter(), or for want of room */
	uint64_t n_late; /* hung up on, by a deadline */
	uint64_t n_pushed_out; /* the same, for another one's sake */
	uint64_t n_requests;
};

void http_server_count(const struct http_server *s, struct http_counts *out);

/* How many files (http_reply_file()) went out whole: the peer's kernel has it, or the peer closed behind the last byte. */
unsigned http_server_get_n_sent(const struct http_server *s);
/* Whether one is on its way to somebody. */
bool http_server_is_sending(const struct http_server *s);

#endif
