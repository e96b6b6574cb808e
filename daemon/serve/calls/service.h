/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The context of the handlers of an attached server: pointers to the parts of the server, so that a
 * handler includes the headers of those parts alone that it uses. Functions that are no handlers
 * are given the parts. The table of methods is service.c.
 */
#ifndef DAEMON_SERVICE_H
#define DAEMON_SERVICE_H

#include <stdatomic.h>
#include <stddef.h>

#include "daemon/serve/calls/health.h"
#include "rpc/server.h"

struct clock_pair;
struct errands;
struct registry;
struct repository;
struct session;
struct status;
struct trace_streams;

/* All that it points to lives as long as the server. */
struct service {
	struct health health; /* the first member: the context of the probes' handlers */
	struct session *session;
	struct errands *errands; /* their context is this service */
	struct trace_streams *streams;
	struct repository *repository;
	struct registry *registry; /* of children with servers of their own */
	const struct clock_pair
		*first_pair; /* of clocks, when the server met its program; before that 0 */
	void (*describe)(struct status *status, void *context); /* the server, now; any thread */
	void *context; /* of |describe| */
	atomic_int is_fanning_out; /* a NewSession asks other servers */
};

/* One row per RPC, of all groups. */
extern const struct rpc_method service_methods[];
extern const size_t n_service_methods;

#endif
