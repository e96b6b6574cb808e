/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door for forked children of the program: see docs/internals/follow_fork.md. The listener is
 * made by the worker, before the program can fork with its server's hello; everything else happens
 * in the main loop.
 */
#ifndef DAEMON_JOINS_H
#define DAEMON_JOINS_H

#include <stddef.h>
#include <uv.h>

#include "daemon/kernel/accept_pause.h"
#include "daemon/target/family.h"
#include "lib/wire/join.h"

/* The number of joined children that live at a time. */
#define JOINS_MAX_CHILDREN 256
/* The number of connections whose request has not come yet. */
#define JOINS_MAX_APPLICANTS 64

struct applicant;

struct joins {
	struct family *family;
	uv_loop_t *loop;
	int fd; /* listening; -1: no child can join */
	uv_poll_t listener;
	uv_timer_t nudge; /* while the worker has not seen the family's news */
	struct accept_pause rest; /* of the listener, when descriptors are short */
	struct applicant *applicants;
	unsigned n_applicants;
	_Atomic unsigned n_children; /* any thread may read it */
	uint8_t secret[JOIN_SECRET_BYTES];
};

/* Main loop's thread. 0 or a libuv error. */
int joins_init(struct joins *j, struct family *f, uv_loop_t *loop);

/* Makes the listener and tells the program where it is. 0 or a negative errno. The worker, once. */
int joins_listen(struct joins *j);
/* Lets children join from now on. Main loop. */
void joins_serve(struct joins *j);
/* Lets no more children join. Main loop. */
void joins_close(struct joins *j);

/*
 * Reads the request of a forked child to join, and the descriptor that comes with it, from the
 * socket |fd|; both are checked. Owner: *memfd_out, on success, is the caller's. 0, -EAGAIN, or a
 * negative errno for a request that is not as it should be.
 */
int join_request_read(int fd, const uint8_t secret[JOIN_SECRET_BYTES], struct join_request *request,
	int *memfd_out);

#endif
