/* SPDX-License-Identifier: Apache-2.0 */
/* Private to http/: a server, its connections, and their exchanges. */
#ifndef HTTP_SERVER_PARTS_H
#define HTTP_SERVER_PARTS_H

#include <microhttpd.h>

#include "http/exchange.h"
#include "http/server.h"
#include "http/url.h"

struct http_route;

/*
 * The functions of GNU libmicrohttpd, which is loaded when a server is opened. Linking it, with the
 * TLS library that it needs, would cost every start of proftap at least 1.5 ms, and Debian has no
 * static library (.a) of one of its dependencies, p11-kit.
 */
/* The members are the functions' names without "MHD_". */
#define MICROHTTPD_FUNCTIONS(row)                                                                 \
	row(add_connection) row(add_response_header) row(create_response_from_buffer)             \
		row(create_response_from_callback) row(create_response_from_fd_at_offset64)       \
			row(destroy_response) row(get_connection_info) row(get_daemon_info)       \
				row(get_timeout) row(lookup_connection_value) row(queue_response) \
					row(resume_connection) row(run) row(start_daemon)         \
						row(stop_daemon) row(suspend_connection)

#define MICROHTTPD_MEMBER(name) __typeof__(&MHD_##name) name;

struct microhttpd {
	MICROHTTPD_FUNCTIONS(MICROHTTPD_MEMBER)
};

enum http_state {
	HTTP_WAITING, /* for a request */
	HTTP_ANSWERING, /* with a short answer, or a deferred one */
	HTTP_SENDING, /* a file */
	HTTP_DELIVERING, /* the kernel has the whole file, the peer's kernel not yet */
	HTTP_STREAMING,
};

struct http_connection {
	struct http_server *server;
	struct http_connection *next; /* the next older one */
	struct MHD_Connection *library; /* the library's object */
	struct http_exchange *exchange; /* NULL: there is none */
	struct http_peer peer;
	int fd;
	enum http_state state;
	bool is_over; /* shut down by us */
	bool has_left; /* its peer has shut down its sending side */
	int64_t deadline_ms; /* of |state|, CLOCK_MONOTONIC; INT64_MAX: none */
};

struct http_server {
	const struct microhttpd *library;
	struct http_server_options options;
	struct MHD_Daemon *daemon;
	struct http_connection *connections; /* the youngest */
	/* the client that is being added; NULL: none, or its connection has begun */
	const struct http_peer *entering;
	/*
	 * watches the listener, the library's descriptor, |wake|, and each connection for the end
	 * of its peer
	 */
	int epoll;
	/*
	 * an eventfd, written when a suspended connection must be resumed: the library resumes it
	 * only when it runs
	 */
	int wake;
	/* accept() pauses until then for lack of descriptors or memory; 0: no pause */
	int64_t rest_until_ms;
	unsigned n_sent;
	struct http_counts counts;
};

struct reply_header {
	char *name; /* malloc'ed, with the value after the '\0' */
	const char *value;
};

struct http_exchange {
	struct http_connection *connection;
	struct http_url url;
	int url_error; /* result of http_url_parse() */
	const char *method;
	bool is_head;
	bool has_begun; /* the header is complete */
	bool is_handled; /* the handler was called, or the request was refused */
	bool is_answered;
	bool is_deferred;
	unsigned refused; /* the status that is sent when the body was read; 0: none */
	char *refusal; /* malloc'ed */
	char *body; /* malloc'ed; NULL: no bytes yet */
	size_t body_bytes;
	size_t body_size; /* allocated */
	size_t max_body_bytes;
	uint64_t n_dropped; /* bytes of a body that is not wanted */
	uint64_t n_file_bytes; /* of the answer */
	const struct http_route *route; /* set by the router */
	struct reply_header headers[HTTP_MAX_REPLY_HEADERS];
	size_t n_headers;
	struct http_stream *stream; /* of the answer */
	void (*gone)(void *work);
	void *work;
};

/* --- connection.c ---------------------------------------------------------------------------- */

int64_t http_now_ms(void);
void http_connection_enter(struct http_connection *c, enum http_state state);
/* Resumes the connection, which was suspended, in the library. */
void http_connection_resume(struct http_connection *c);
/* Shuts the connection down, which the library notices. */
void http_connection_end(struct http_connection *c);
/* The library calls this when a connection begins or ends. */
void http_connection_note(void *server, struct MHD_Connection *library, void **context,
	enum MHD_ConnectionNotificationCode what);
/*
 * Ends the connection that has waited longest for a request, of |uid| unless that is NULL. false:
 * none waits.
 */
bool http_connection_make_room(struct http_server *s, const uid_t *uid);
unsigned http_connection_count(const struct http_server *s, const uid_t *uid);
void http_connection_end_late(struct http_server *s);
void http_connection_note_deliveries(struct http_server *s);
/* Ends connections whose peers left before the whole request was there. */
void http_connection_end_left(struct http_server *s);
int64_t http_connection_find_next_ms(const struct http_server *s);
/* The peer has shut down its sending side. */
void http_connection_hear_end(struct http_connection *c);

/* --- exchange.c: the library's callbacks ----------------------------------------------------- */

void *http_exchange_open(void *server, const char *url, struct MHD_Connection *library);
enum MHD_Result http_exchange_run(void *server, struct MHD_Connection *library, const char *url,
	const char *method, const char *version, const char *data, size_t *n_data, void **context);
void http_exchange_close(void *server, struct MHD_Connection *library, void **context,
	enum MHD_RequestTerminationCode how);
/* Resumes the exchange if it is suspended. */
void http_exchange_wake(struct http_exchange *x);

/* Sends |response|, which it takes; NULL: memory ran out, and the connection ends. */
void http_reply_queue(struct http_exchange *x, unsigned status, struct MHD_Response *response);

/* --- stream.c -------------------------------------------------------------------------------- */

/* The time until which the peer must have taken the waiting bytes; INT64_MAX: none wait. */
int64_t http_stream_get_deadline_ms(const struct http_stream *s);
/* Calls |ended|, and frees the stream. */
void http_stream_close(struct http_stream *s);
void http_stream_wake(struct http_stream *s);

#endif
