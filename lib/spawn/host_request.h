/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a host daemon to start a server, where this process cannot: see docs/internals/host.md. */
#ifndef SPAWN_HOST_REQUEST_H
#define SPAWN_HOST_REQUEST_H

#include <sys/un.h>

struct spawn;

#define HOST_REQUEST_MAX_PLACES 4

/*
 * REFUSED, UNTRUSTED and NO_DAEMON lead to the next place; the last result other than NO_DAEMON
 * counts.
 */
enum host_request_result {
	HOST_REQUEST_SERVED, /* a server has the arena */
	HOST_REQUEST_NO_ARENA, /* listener or arena could not be made: spawn->stage, spawn->error */
	HOST_REQUEST_NO_DAEMON, /* no daemon runs */
	HOST_REQUEST_UNTRUSTED, /* the daemon is neither root's nor this user's: nothing was sent */
	HOST_REQUEST_NO_ANSWER, /* the daemon cannot be asked: |error| */
	HOST_REQUEST_REFUSED, /* the daemon refused, or its server failed: |error| */
};

struct host_request {
	/*
	 * The caller fills in spawn->address and arena_bytes. The results in |spawn| are set, too;
	 * spawn->pid is 0 where the server has no pid in this namespace.
	 */
	struct spawn *spawn;
	struct sockaddr_un places[HOST_REQUEST_MAX_PLACES]; /* registries, tried in this order */
	unsigned n_places;
	/* the answer */
	enum host_request_result result;
	int error; /* a negative errno */
};

/* Makes listener and arena, and sends them. 0, or a negative errno; then no arena is left. */
int host_request_run(struct host_request *q);

#endif
