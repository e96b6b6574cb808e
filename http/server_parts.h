/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the server share, and nobody else: a server, its connections, and what each is asked. */
#ifndef HTTP_SERVER_PARTS_H
#define HTTP_SERVER_PARTS_H

#include "http/exchange.h"
#include "http/microhttpd.h"
#include "http/server.h"
#include "http/url.h"

struct http_route;

enum http_state {
	HTTP_WAITING, /* for a request */
	HTTP_ANSWERING, /* with what is not long, or later */
	HTTP_SENDING, /* a file */
	HTTP_DELIVERING, /* all of that is the kernel's */
	HTTP_STREAMING,
};

struct http_connection {
	struct http_server *server;
	struct http_connection *next; /* the one that came before it */
	struct MHD_Connection *library; /* the library's of it */
	struct http_exchange *exchange; /* NULL: none is under way */
	struct http_peer peer;
	int fd;
	enum http_state state;
	bool is_over; /* shut down by us */
	bool has_left; /* its peer will send nothing any more */
	int64_t deadline_ms; /* CLOCK_MONOTONIC, of the state; INT64_MAX: none */
};

struct http_server {
	const struct microhttpd *library;
	struct http_server_options options;
	struct MHD_Daemon *daemon;
	struct http_connection *connections; /* the youngest */
	const struct http_peer *entering; /* of the connection that is just being made */
	int epoll; /* the listener, the library's descriptor, |wake|, and each connection, for its peer's going */
	int wake; /* an eventfd: a connection that rested is to go on, which the library only sees when it runs */
	int64_t rest_until_ms; /* nobody comes in before, as descriptors are short; 0: no rest */
	unsigned n_sent;
	struct http_counts counts;
};

struct reply_header {
	char *name; /* malloc'ed, with the value behind its end */
	const char *value;
};

struct http_exchange {
	struct http_connection *connection;
	struct http_url url;
	int url_error; /* of http_url_parse() */
	const char *method;
	bool is_head;
	bool has_begun; /* the header is there */
	bool is_handled; /* the handler was called, or it was refused */
	bool is_answered;
	bool is_deferred;
	unsigned refused; /* the status that goes out when the body was read; 0: none */
	char *refusal; /* malloc'ed */
	char *body; /* malloc'ed; NULL: nothing yet */
	size_t body_bytes;
	size_t body_size; /* allocated */
	size_t max_body_bytes;
	uint64_t n_dropped; /* of a body that is not wanted */
	uint64_t n_file_bytes; /* of the answer */
	const struct http_route *route; /* the router's */
	struct reply_header headers[HTTP_MAX_REPLY_HEADERS];
	size_t n_headers;
	struct http_stream *stream; /* of the answer */
	void (*gone)(void *work);
	void *work;
};

/* connection.c */

int64_t http_now_ms(void);
void http_connection_enter(struct http_connection *c, enum http_state state);
/* The library goes on with it, which rested. */
void http_connection_resume(struct http_connection *c);
/* Hangs up: the library then sees its end. */
void http_connection_end(struct http_connection *c);
/* For the library: one comes, or goes. */
void http_connection_note(void *server, struct MHD_Connection *library, void **context,
	enum MHD_ConnectionNotificationCode what);
/* The oldest that waits for a request, of |uid| if that is given, goes. false: there is none. */
bool http_connection_make_room(struct http_server *s, const uid_t *uid);
unsigned http_connection_count(const struct http_server *s, const uid_t *uid);
void http_connection_end_late(struct http_server *s);
void http_connection_note_deliveries(struct http_server *s);
/* Those whose peers have left before the whole request was there. */
void http_connection_end_left(struct http_server *s);
int64_t http_connection_find_next_ms(const struct http_server *s);
/* Its peer will send nothing any more. */
void http_connection_hear_end(struct http_connection *c);

/* exchange.c: what the library calls */

void *http_exchange_open(void *server, const char *url, struct MHD_Connection *library);
enum MHD_Result http_exchange_run(void *server, struct MHD_Connection *library, const char *url,
	const char *method, const char *version, const char *data, size_t *n_data, void **context);
void http_exchange_close(void *server, struct MHD_Connection *library, void **context,
	enum MHD_RequestTerminationCode how);
/* The library goes on with it, if it rests. */
void http_exchange_wake(struct http_exchange *x);

/* reply.c */

/* Answers what was refused. */
void http_reply_refusal(struct http_exchange *x);
/* Sends |response|, which it takes; NULL: memory ran out, and the connection ends. */
void http_reply_queue(struct http_exchange *x, unsigned status, struct MHD_Response *response);

/* stream.c */

/* When what waits must have been taken; INT64_MAX: nothing waits. */
int64_t http_stream_get_deadline_ms(const struct http_stream *s);
/* It is over: calls ended(), frees it. */
void http_stream_close(struct http_stream *s);
void http_stream_wake(struct http_stream *s);

#endif
