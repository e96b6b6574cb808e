/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket at which forked children join the program; see docs/internals/follow_fork.md. The
 * worker makes the listener before the program receives its server's hello and can fork. Everything
 * else happens in the main loop.
 */
#ifndef DAEMON_JOINS_H
#define DAEMON_JOINS_H

#include <uv.h>

#include "daemon/kernel/accept_pause.h"
#include "daemon/target/family.h"
#include "lib/wire/join.h"

/* The limit of joined children that live at a time. */
#define JOINS_MAX_CHILDREN 256
/* The limit of connections whose request has not come yet. */
#define JOINS_MAX_APPLICANTS 64

struct applicant;

struct joins {
	struct family *family;
	uv_loop_t *loop;
	int fd; /* listening; -1: no child can join */
	uv_poll_t listener;
	uv_timer_t nudge; /* runs until the worker has seen the family's news */
	struct accept_pause rest; /* pauses the listener when descriptors are short */
	struct applicant *applicants;
	unsigned n_applicants;
	_Atomic unsigned n_children; /* any thread may read it */
	uint8_t secret[JOIN_SECRET_BYTES];
};

/* Main loop's thread. 0 or a libuv error. */
int joins_init(struct joins *j, struct family *f, uv_loop_t *loop);

/*
 * Makes the listener and writes its name into the arena. 0 or a negative errno. The worker, once.
 */
int joins_listen(struct joins *j);
/* Lets children join from now on. Main loop. */
void joins_serve(struct joins *j);
/* Lets no more children join. Main loop. */
void joins_close(struct joins *j);

/*
 * Reads from the socket |fd| a forked child's request to join and the descriptor that comes with
 * it, and checks both. 0, -EAGAIN, or a negative errno for an invalid request. On success the
 * caller owns *memfd_out.
 */
int join_request_read(int fd, const uint8_t secret[JOIN_SECRET_BYTES], struct join_request *request,
	int *memfd_out);

#endif
