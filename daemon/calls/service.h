/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The methods that this server's port serves: a table for each group of them, and what their handlers know of. Each group
 * is a file (profile_calls.h and so on): requests in, sessions started, errors in words.
 */
#ifndef DAEMON_SERVICE_H
#define DAEMON_SERVICE_H

#include <stdatomic.h>
#include <stddef.h>

#include "daemon/calls/errand.h"
#include "daemon/calls/health.h"
#include "daemon/kin/registry.h"
#include "daemon/message/stream_place.h"
#include "daemon/session/repository.h"
#include "rpc/server.h"

struct session;
struct status;

/* Requests are small. */
#define SERVICE_MAX_REQUEST_BYTES (4u << 20)

/* The context of each handler. */
struct service {
	struct session *session;
	struct errands errands;
	struct health health;
	void (*describe)(struct status *status, void *context); /* the server, now; any thread */
	void *context; /* of |describe| */
	struct trace_streams streams;
	atomic_int is_fanning_out; /* a NewSession asks other servers */
	struct repository repository;
	struct registry registry; /* of children with servers of their own */
};

/* One row per RPC, of all groups. */
extern const struct rpc_method service_methods[];
extern const size_t n_service_methods;

#endif
