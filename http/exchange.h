/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request and its answer, as a handler sees them. A handler is called when the whole request is there, and says one of
 *
 *   http_reply_bytes(), http_reply_file(), http_refuse()    the answer, now;
 *   http_reply_stream()                                      an answer without an end, such as server-sent events;
 *   http_defer()                                             nothing yet: one of the above comes later, or the peer goes.
 *
 * The smallest one, and its row (http/router.h):
 *
 *   static void answer_health(struct http_exchange *x, void *context)
 *   {
 *           http_reply_text(x, 200, "text/plain; charset=utf-8", "ok\n");
 *   }
 *   {"GET", "/healthz", 0, answer_health},
 *
 * Lifetime: what is got from an exchange lies there until the answer. It is not used behind the answer, nor after the handler has
 * returned, unless it was deferred.
 * Threads: all of this the server's only, also what comes later: whoever works elsewhere hands its result over
 * (daemon/host/web/post.h).
 */
#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct http_exchange;
struct http_stream;

/* Who asks, as whoever let the connection in found out (http_server_options.enter). */
struct http_peer {
	uid_t uid;
	bool is_operator; /* root, or of the group whose members may ask for every program */
	char text[64]; /* for people: where from, and how the uid is known */
};

/* --- the request --------------------------------------------------------------------------- */

/* Each is borrowed, or NULL: there is none. Percent signs are undone, and what is not UTF-8 was refused. */
const char *http_get_method(
	const struct http_exchange *x); /* of HEAD "GET": the body is left out behind the handler */
const char *http_get_path(const struct http_exchange *x); /* as it came, without the query */
const char *http_get_query(const struct http_exchange *x, const char *key);
const char *http_get_param(
	const struct http_exchange *x, const char *name); /* "{pid}" of the route's path */
const char *http_get_header(const struct http_exchange *x, const char *name); /* as it came */
/* Never NULL, and a '\0' is behind it; *n is 0 where the route takes none. */
const char *http_get_body(const struct http_exchange *x, size_t *n);
const struct http_peer *http_get_peer(const struct http_exchange *x);

/* --- the answer ---------------------------------------------------------------------------- */

#define HTTP_MAX_REPLY_HEADERS 12

/* Before the answer; both are copied. It goes before the server's own header of the same name. |value| has no line breaks. */
void http_set_header(struct http_exchange *x, const char *name, const char *value);

/* |bytes| are copied. |type| NULL: nothing is said of it. */
void http_reply_bytes(
	struct http_exchange *x, unsigned status, const char *type, const void *bytes, size_t n);
void http_reply_text(struct http_exchange *x, unsigned status, const char *type, const char *text);
/* 200; they stay where they are as long as the program runs. */
void http_reply_static(struct http_exchange *x, const char *type, const void *bytes, size_t n);
/* malloc'ed; taken. */
void http_reply_taken(
	struct http_exchange *x, unsigned status, const char *type, char *bytes, size_t n);
/* 200; |n| bytes of the file |fd| from |offset| on. |fd| is taken; the file does not shrink. */
void http_reply_file(
	struct http_exchange *x, const char *type, int fd, uint64_t offset, uint64_t n);

/* An answer that says what was wrong: by http_server_options.refuse, or else as a line of text. */
void http_refuse(struct http_exchange *x, unsigned status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The answer comes later, within HTTP_ANSWER_MS (http/server.h). If the peer does not wait for it, or that time is over, |gone| is
 * called once with |work| instead, and |x| is no more.
 */
void http_defer(struct http_exchange *x, void (*gone)(void *work), void *work);

/* --- an answer without an end -------------------------------------------------------------- */

/*
 * Begins one (200) of which |max_bytes| may wait for a peer that is slow. |ended| is called once with |context| when it is over, by
 * whomever: the stream is no more then. A peer that has not taken in HTTP_STREAM_MS what waited before is hung up on.
 * NULL: it could not be begun, and |x| is answered.
 */
struct http_stream *http_reply_stream(struct http_exchange *x, const char *type, size_t max_bytes,
	void (*ended)(void *context), void *context);

/* 0; -ENOBUFS: that does not fit into what may wait, and nothing of it was taken; -EPIPE: it is about to end. Never calls |ended|. */
int http_stream_send(struct http_stream *s, const void *bytes, size_t n);

/* No more comes: it ends when what waits was taken. */
void http_stream_finish(struct http_stream *s);

#endif
