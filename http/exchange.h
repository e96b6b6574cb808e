/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request and its answer, as a handler sees them. The server calls a handler when it has the
 * complete request. The handler does one of
 *
 *   http_reply_bytes(), http_reply_file(), http_refuse()   the answer, now;
 *   http_reply_stream()                                    an answer without an end;
 *   http_defer()                                           nothing yet: one of them follows.
 *
 * The smallest handler, and its row (http/router.h):
 *
 *   static void answer_health(struct http_exchange *x, void *context)
 *   {
 *           http_reply_text(x, 200, "text/plain; charset=utf-8", "ok\n");
 *   }
 *   {"GET", "/healthz", 0, answer_health},
 *
 * Lifetime: data of an exchange are valid until the answer, and after the handler has returned only
 * if it called http_defer().
 * Threads: only the server's thread uses an exchange, even after http_defer(). Other threads hand
 * their results to that thread (daemon/host/web/post.h).
 */
#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct http_exchange;
struct http_stream;

/* The client of a connection, as http_server_options.enter identified it. */
struct http_peer {
	uid_t uid;
	bool is_operator; /* root, or a member of the group that may use every program */
	char text[64]; /* for people: the address, and how the uid is known */
};

/* --- The request ----------------------------------------------------------------------------- */

/*
 * Each result is borrowed; NULL: there is none. Percent-encoding is decoded except where stated.
 * Requests whose URL is not UTF-8 are refused before this.
 */
/* "GET" for HEAD: the server leaves out the body by itself. */
const char *http_get_method(const struct http_exchange *x);
const char *http_get_path(const struct http_exchange *x); /* as received, without the query */
const char *http_get_query(const struct http_exchange *x, const char *key);
const char *http_get_param(
	const struct http_exchange *x, const char *name); /* the part "{pid}" of the route's path */
const char *http_get_header(const struct http_exchange *x, const char *name); /* as received */
/* Never NULL, and ends with a '\0'; *n is 0 if the route takes no body. */
const char *http_get_body(const struct http_exchange *x, size_t *n);
const struct http_peer *http_get_peer(const struct http_exchange *x);

/* --- The answer ------------------------------------------------------------------------------ */

#define HTTP_MAX_REPLY_HEADERS 12

/*
 * Adds a header to the answer, before it is sent; both strings are copied. It replaces the server's
 * own header of the same name. |value| has no line breaks.
 */
void http_set_header(struct http_exchange *x, const char *name, const char *value);

/* |bytes| are copied. |type| NULL: the answer has no Content-Type. */
void http_reply_bytes(
	struct http_exchange *x, unsigned status, const char *type, const void *bytes, size_t n);
void http_reply_text(struct http_exchange *x, unsigned status, const char *type, const char *text);
/* Answers 200 with |bytes| that stay valid until the program ends. */
void http_reply_static(struct http_exchange *x, const char *type, const void *bytes, size_t n);
/* Takes |bytes|, which are malloc'ed. */
void http_reply_taken(
	struct http_exchange *x, unsigned status, const char *type, char *bytes, size_t n);
/*
 * Answers 200 with |n| bytes of the file |fd| from |offset| on. Takes |fd|; the file must not
 * shrink.
 */
void http_reply_file(
	struct http_exchange *x, const char *type, int fd, uint64_t offset, uint64_t n);

/*
 * Answers with an error, by http_server_options.refuse if that is set, or else with a line of text.
 */
void http_refuse(struct http_exchange *x, unsigned status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The answer follows later, within HTTP_ANSWER_MS (http/server.h). If the time passes or the server
 * is freed before that, |gone| is called once with |work| instead, and |x| is invalid.
 */
void http_defer(struct http_exchange *x, void (*gone)(void *work), void *work);

/* --- An answer without an end ---------------------------------------------------------------- */

/*
 * Begins a stream (200). At most |max_bytes| of it may wait for a slow peer. |ended| is called once
 * with |context| when the stream has ended for any reason, and the stream is invalid then. The
 * server hangs up on a peer that takes longer than HTTP_STREAM_MS for the bytes that waited.
 * Returns NULL if the stream could not begin; then |x| has been answered.
 */
struct http_stream *http_reply_stream(struct http_exchange *x, const char *type, size_t max_bytes,
	void (*ended)(void *context), void *context);

/*
 * 0; -ENOBUFS: there is no room for all |n| bytes, and none was taken; -EPIPE: the stream is about
 * to end. Never calls |ended|.
 */
int http_stream_send(struct http_stream *s, const void *bytes, size_t n);

/* Ends the stream when the peer has taken all that waits. */
void http_stream_finish(struct http_stream *s);

#endif
