/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host daemon's web server: HTTP on the daemon's loop, for the users who may ask by gRPC
 * (daemon/host/programs/caller.h). Its routes are rows of web_routes, and the context of each
 * handler is the struct web. http/exchange.h explains handlers.
 */
#ifndef DAEMON_WEB_H
#define DAEMON_WEB_H

#include <uv.h>

#include "daemon/host/web/api.h"
#include "daemon/host/web/post.h"
#include "http/guard.h"
#include "http/router.h"

struct caller;
struct diag;
struct host_service;
struct http_exchange;
struct http_server;

/* Limits of connections at a time: all together, and those of one user. */
#define WEB_MAX_CONNECTIONS 256
#define WEB_MAX_OF_USER 128

struct web {
	struct host_service *host; /* borrowed: programs, the machine, operators */
	struct post post; /* to the loop's thread */
	uv_loop_t *loop;
	uv_poll_t poll; /* on the server's descriptor */
	uv_timer_t timer; /* until the server's next deadline */
	struct http_server *server; /* NULL: closed, or never open */
	struct http_router router;
	struct http_guard guard;
	struct api api;
	unsigned n_scrapes; /* under way */
};

extern const struct http_route web_routes[];
extern const size_t n_web_routes;

/*
 * Serves |listener|, which it takes. 0, or a negative errno with |d|. |w| must not move until the
 * loop has ended. A |w| of zeros counts as closed.
 */
int web_open(
	struct web *w, uv_loop_t *loop, int listener, struct host_service *host, struct diag *d);

/* Ends everything that is under way. A second call does nothing. */
void web_close(struct web *w);

/* Called after each sample of the machine. */
void web_tick(struct web *w);

/*
 * The functions up to web_stop_captures() are steps of the daemon's end. They do nothing, or return
 * 0, if |w| is closed. This one refuses new captures.
 */
void web_refuse_captures(struct web *w);
/* Returns the number of captures under way. */
unsigned web_count_captures(struct web *w);
/* Asks all captures to end, with their data. */
void web_stop_captures(struct web *w);

/* Finds the caller of a request, for the rules of daemon/host/programs/caller.h. */
void web_get_caller(const struct http_exchange *x, struct caller *out);

#endif
