/* SPDX-License-Identifier: Apache-2.0 */
/* A request that is answered by another thread's work: files are read there, or programs are awaited, for fractions of a second. */
#ifndef DAEMON_DEFERRED_H
#define DAEMON_DEFERRED_H

#include <uv.h>

#include "base/diag.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/web/json_text.h"

struct http_exchange;
struct web;

/* The request that a thread is to answer. */
struct deferred_order {
	void *what; /* or NULL */
	void (*free)(void *what); /* is called when all is done */
};

struct deferred {
	uv_work_t request;
	struct http_exchange *x; /* NULL: the peer is gone */
	struct web *web;
	struct caller caller;
	char name[256]; /* what the path says */
	struct deferred_order order;
	/* In a thread: writes members of |text|. Returns 0, or a gRPC status with |diag|. */
	int (*work)(struct deferred *d);
	struct json_text text;
	int has_text; /* else the answer is 204 */
	int status;
	struct diag diag;
};

/* The handler's part is done. |name| may be NULL. */
void deferred_start(struct http_exchange *x, struct web *web, int (*work)(struct deferred *d),
	const char *name);
/* The same without a body in the answer. */
void deferred_start_silent(struct http_exchange *x, struct web *web,
	int (*work)(struct deferred *d), const char *name);
/* The same for |order|, which it takes; has_text: with a body in the answer. */
void deferred_start_order(struct http_exchange *x, struct web *web, int (*work)(struct deferred *d),
	struct deferred_order order, int has_text);

#endif
