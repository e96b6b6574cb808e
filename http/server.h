/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP server: libmicrohttpd, bounded in connections and in the time that a peer may take for
 * anything. It has no thread: the owner waits for its descriptor and then calls http_server_run().
 *
 * Each request has an absolute deadline, which trickling bytes do not renew. When there is no room
 * for a new connection, the server closes the oldest one whose request is not complete. So a client
 * that sends nothing, or one byte a second, cannot keep other clients out.
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
	unsigned max_of_user; /* limit of one http_peer.uid */
	/*
	 * Identifies the client at accept; false: hang up. NULL: everybody may connect, as uid 0.
	 */
	bool (*enter)(int fd, struct http_peer *peer, void *context);
	/*
	 * Called when the header has arrived: it may refuse (http_refuse()), and sets the size of
	 * the body (http_expect_body()). A refusal is sent after the body was read and dropped, or
	 * at once if its length is above 1 MiB. NULL: no request has a body.
	 */
	void (*begin)(struct http_exchange *x, void *context);
	void (*handle)(struct http_exchange *x, void *context); /* see http/exchange.h */
	/*
	 * Answers a refusal, by http_reply_text() for example. NULL: |text| and a line break are
	 * sent.
	 */
	void (*refuse)(struct http_exchange *x, unsigned status, const char *text, void *context);
	const struct http_header *headers; /* added to every answer that does not set them itself */
	size_t n_headers;
	/*
	 * If libmicrohttpd is not installed, the error message ends with this text: what the user
	 * can do instead. NULL: nothing is added.
	 */
	const char *otherwise;
	void *context;
};

/* The time for a whole request, counted from accept() or from the end of the previous answer. */
#define HTTP_REQUEST_MS 5000
/* The time for an answer. A file also gets the time for its size at the slowest accepted speed. */
#define HTTP_ANSWER_MS 60000
#define HTTP_MIN_BYTES_PER_S 65536
/* The time for a peer to take the bytes that wait in a stream. */
#define HTTP_STREAM_MS 20000
/*
 * The limit of a request's first line and header together; http/url.h has the limits of the URL.
 * The server refuses a longer header as long as libmicrohttpd has room for it. Beyond that, and if
 * the bytes are not HTTP, the library itself answers and closes the connection
 * (docs/internals/host.md).
 */
#define HTTP_MAX_HEADER_BYTES 16384

/* 0; -ENOSYS: libmicrohttpd is not installed; or another negative errno, with |d|. */
int http_server_open(
	struct http_server **out, const struct http_server_options *options, struct diag *d);
/* Ends all exchanges, streams and connections. */
struct http_server *http_server_free(struct http_server *s); /* NULL ok; returns NULL */

/*
 * The descriptor is readable when there is work. The timeout is the time after which
 * http_server_run() must be called even so; -1: never.
 */
int http_server_get_fd(const struct http_server *s);
int64_t http_server_get_timeout_ms(const struct http_server *s);
void http_server_run(struct http_server *s);

/* For http_server_options.begin: allows a body of |max_bytes| at most; a longer one is refused. */
void http_expect_body(struct http_exchange *x, size_t max_bytes);

struct http_counts {
	unsigned n_connections; /* open now */
	uint64_t n_accepted;
	uint64_t n_refused; /* by enter(), or because there was no room */
	uint64_t n_late; /* ended by a deadline */
	uint64_t n_pushed_out; /* ended to make room for another connection */
	uint64_t n_requests;
};

void http_server_count(const struct http_server *s, struct http_counts *out);

/*
 * Counts files (http_reply_file()) that were sent whole: the peer's kernel has all bytes, or the
 * peer closed after the last one.
 */
unsigned http_server_get_n_sent(const struct http_server *s);
/* Returns true while a file is being sent. */
bool http_server_is_sending(const struct http_server *s);

#endif
