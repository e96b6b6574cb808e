/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host daemon on the web: HTTP on the daemon's loop, for those users who may ask by gRPC (daemon/host/programs/caller.h). Its routes are rows of
 * web_routes; a handler's context is the struct web. See http/exchange.h for what a handler does.
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

/* At a time, and of one user. */
#define WEB_MAX_CONNECTIONS 256
#define WEB_MAX_OF_USER 128

struct web {
	struct host_service *host; /* borrowed: programs, the machine, who may ask for all */
	struct post post; /* into the loop's thread */
	uv_loop_t *loop;
	uv_poll_t poll; /* on the server's descriptor */
	uv_timer_t timer; /* until its next deadline */
	struct http_server *server; /* NULL: closed, or never open */
	struct http_router router;
	struct http_guard guard;
	struct api api;
	unsigned n_scrapes; /* under way */
};

extern const struct http_route web_routes[];
extern const size_t n_web_routes;

/*
 * Serves |listener|, which it takes. 0, or a negative errno with |d|. |w| stays where it is until the loop has ended; all zero is one that is
 * closed.
 */
int web_open(
	struct web *w, uv_loop_t *loop, int listener, struct host_service *host, struct diag *d);

/* Whatever is under way ends. Again: nothing. */
void web_close(struct web *w);

/* The machine has been sampled. */
void web_tick(struct web *w);

/*
 * The daemon is to end: no captures are begun any more. How many are under way; and these are told to end, with their data. Of one that is
 * closed: none.
 */
void web_refuse_captures(struct web *w);
unsigned web_count_captures(struct web *w);
void web_stop_captures(struct web *w);

/* Finds the caller of a request, for the rules of daemon/host/programs/caller.h. */
void web_get_caller(const struct http_exchange *x, struct caller *out);

#endif
