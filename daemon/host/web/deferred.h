/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A deferred request is answered by one of libuv's threads, which reads files or waits for
 * programs: for fractions of a second as a rule, and some seconds at most.
 */
#ifndef DAEMON_DEFERRED_H
#define DAEMON_DEFERRED_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "base/diag.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/web/json_text.h"

struct http_exchange;
struct program;
struct web;

/* The decoded body of a request, for the thread. */
struct deferred_order {
	void *what; /* or NULL */
	void (*free)(void *what); /* called after the answer */
};

struct deferred {
	uv_work_t request;
	struct http_exchange *x; /* NULL: the peer is gone */
	struct web *web;
	struct caller caller;
	char name[256]; /* the path's parameter, a run or a program */
	struct deferred_order order;
	/* Runs in the thread and writes members of |text|. 0, or a gRPC status with |diag|. */
	int (*work)(struct deferred *d);
	struct json_text text;
	bool has_text; /* false: the answer is a 204 */
	int status;
	struct diag diag;
};

/* Answers |x| later; the handler returns after this call. |name| may be NULL. */
void deferred_start(struct http_exchange *x, struct web *web, int (*work)(struct deferred *d),
	const char *name);
/* The same, for an answer without a body. */
void deferred_start_silent(struct http_exchange *x, struct web *web,
	int (*work)(struct deferred *d), const char *name);
/* The same for |order|, which it takes. has_text: the answer has a body. */
void deferred_start_order(struct http_exchange *x, struct web *web, int (*work)(struct deferred *d),
	struct deferred_order order, bool has_text);

/*
 * Copies the program |id|, if the request's caller may see it. 0, or a gRPC status with the
 * request's diag. The request's thread.
 */
int deferred_find_program(struct deferred *d, uint64_t id, struct program *out);

#endif
